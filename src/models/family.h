// A model family is one file: it defines one Family and adds one line to families.cc.
#pragma once

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
  };
  std::vector<KvHeads> kv;  // one a layer
};

// A decoder declared in one graph: the pieces that the engine puts together for training, prefill
// and decoding. All arrays are [b, s, ...].
struct Decoder {
  using Layer = std::function<Value(Value x, const nn::Context& ctx)>;
  std::function<Value(Value tokens)> embed;  // i32 [b, s] -> [b, s, hidden]
  std::vector<Layer> layers;                 // [b, s, hidden] -> the same
  std::function<Value(Value x)> norm;        // the last norm, [.., hidden] -> the same
  std::function<Value(Value x)> head;        // [.., hidden] -> logits [.., vocab]
};

// What a config asks for.
struct Architecture {
  ModelShape shape;
  std::function<Decoder(nn::Scope root)> build;  // declares the decoder in the root's graph
};

// How a GGUF file says what a Hugging Face config and checkpoint say.
struct GgufNames {
  enum class Kind { kInteger, kReal, kText };
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
  std::span<const Key> keys;
  std::span<const Tensor> tensors;
};

struct Family {
  std::string_view model_type;                 // config.json's "model_type"
  Architecture (*read)(ConfigReader& config);  // every key but "model_type"
  // Ends of the names of checkpoint tensors that the model has no use for.
  std::span<const std::string_view> unused_tensors;
  GgufNames gguf;
};

std::span<const Family* const> families();
// Throws ConfigError naming the families there are.
const Family& family_of(std::string_view model_type);
const Family& family_of_gguf(std::string_view architecture);

// Reads the whole of a config. Throws ConfigError, naming `file`, at a key that the family does not
// know or a value that it cannot compute with.
Architecture read_architecture(const Family& family, const std::string& file,
                               const nlohmann::json& config);

}  // namespace hone
