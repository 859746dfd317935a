// A model family is one file: it defines one Family and adds one line to families.cc.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "nn/attention.h"
#include "nn/scope.h"

namespace hone {

// What the engine must know before it builds anything.
struct ModelShape {
  int64_t vocab = 0;
  int64_t hidden = 0;
  int64_t max_positions = 0;
  struct KvHeads {
    int64_t heads, head_dim;
    int64_t window = 0;  // keys that are looked back at; 0: all
    bool operator==(const KvHeads&) const = default;
  };
  std::vector<KvHeads> kv;  // of each cache: one a layer, but for layers that share another's
  int64_t layers = 0;
  double router_loss = 0;  // weight of the load-balance loss that the config asks for in training
};

// A decoder declared in one graph: the pieces that the engine puts together for training, prefill
// and decoding. All arrays are [b, s, ...].
struct Decoder {
  // What goes from layer to layer: [b, s, hidden] first, then what else the family carries.
  using Layer = std::function<Values(const Values& state, const nn::Context& ctx)>;
  std::function<Values(Value tokens)> embed;  // i32 [b, s] -> state
  std::vector<Layer> layers;
  using Part = std::function<Value(Value x)>;
  Part norm;  // the last norm, [.., hidden] -> the same
  Part head;  // [.., hidden] -> logits [.., vocab]
};

// What a config asks for.
struct Architecture {
  ModelShape shape;
  std::function<Decoder(nn::Scope root)> build;  // declares the decoder in the root's graph
};

// Another way for a checkpoint to hold a weight: in pieces.
struct Spelling {
  std::string_view weight;  // the end of the weight's name
  // What stands there instead. The pieces lie side by side along axis 1 of the weight (or are all
  // of it); where they have "{}", each index of axis 0 has its own, without that axis.
  std::array<std::string_view, 2> pieces;  // the second may be ""
};

// How a GGUF file says what a Hugging Face config and checkpoint say.
struct GgufNames {
  enum class Kind { kInteger, kReal, kText, kIntegers };  // kIntegers: one, or a list
  struct Key {
    std::string_view gguf;    // after "ARCH."
    std::string_view config;  // in config.json; "a.b" for a nested object
    Kind kind = Kind::kInteger;
  };
  enum class Order {
    kSame,
    kInterleavedQuery,  // rows of rotary projections
    kInterleavedKey,
    kPlusOne,  // one was added to every element
  };
  struct Tensor {
    std::string_view gguf, checkpoint;  // "{}" stands for the layer
    Order order = Order::kSame;
  };
  std::string_view architecture;  // "": llama.cpp knows it as another family's
  // Of families with one architecture, the one whose key (after "ARCH.") a file has with a value
  // above 0; "" is the one for files that have none of these keys.
  std::string_view with = {};
  std::span<const Key> keys;
  std::span<const Tensor> tensors;
  std::span<const std::string_view> always = {};  // keys of the config that are true of every file
  // What keys alone cannot say: makes a config.json of what they said. `has`: the file's tensors.
  using Has = std::function<bool(std::string_view tensor)>;
  void (*finish)(nlohmann::json& config, const Has& has) = nullptr;
};

struct Family {
  std::string_view model_type;                 // config.json's "model_type"
  Architecture (*read)(ConfigReader& config);  // every key but "model_type"
  // Ends of the names of checkpoint tensors that the model has no use for.
  std::span<const std::string_view> unused_tensors;
  std::span<const Spelling> spellings = {};
  GgufNames gguf = {};
  // Beginnings of names: tensors of towers that hone does not run; and how checkpoints may begin a
  // name that is declared otherwise.
  std::span<const std::string_view> towers = {};
  struct Alias {
    std::string_view declared, stored;
  };
  std::span<const Alias> aliases = {};
};

std::span<const Family* const> families();
// Throws ConfigError naming the families there are.
const Family& family_of(std::string_view model_type);
// `count` is the file's whole number under a key after "ARCH.", 0 where it has none.
const Family& family_of_gguf(std::string_view architecture,
                             const std::function<int64_t(std::string_view key)>& count);

// Reads the whole of a config. Throws ConfigError, naming `file`, at a key that the family does not
// know or a value that it cannot compute with.
Architecture read_architecture(const Family& family, const std::string& file,
                               const nlohmann::json& config);

}  // namespace hone
