// Where a model's weights are declared: a Scope is a place in the checkpoint's name tree, and one
// expression names a weight, its shape and its logical axes. Loading, saving, LoRA targets and
// sharding all come from these declarations.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "nn/store.h"
#include "nn/tuning.h"

namespace hone::nn {

// One dimension of a weight: its logical name (batch, seq, embed, heads, kv_heads, mlp, vocab,
// expert, layers; "" = none of these) and its extent.
struct Axis {
  std::string_view name;
  int64_t size;
};

struct Weight {
  std::string name;  // as in a Hugging Face checkpoint
  Value value;       // a parameter of the graph
  std::vector<std::string> axes;
};

struct FrozenWeight {
  std::string name;
  Dims dims;
  std::vector<std::string> axes;
  const Store* store;
  Values parts;           // parameters of the graph, whose labels begin with the name
  bool constant = false;  // never trained, and still a part of the model when all of it is
};

const std::string& label(Value parameter);

// How a frozen weight is held. `matrix`: it is that of a linear layer other than the head, and may
// be quantised.
using StoreRule = std::function<const Store&(const std::string& weight, bool matrix)>;
inline const Store& store_f32(const std::string&, bool) { return kStoreF32; }

// What a model is built into: the graph, and the weights declared so far. It outlives the model.
struct Params {
  Graph& graph;
  Tuning tuning = {};
  DType compute = DType::kF32;  // activations, and weights where they are used
  StoreRule store = store_f32;
  Value dropout_key = {};                 // u64 [2], of the micro-batch at hand; {} drops nothing
  std::vector<FrozenWeight> frozen = {};  // in declaration order
  std::vector<Weight> trained = {};       // always f32
};

class Scope {
 public:
  explicit Scope(Params& params, std::string path = "")
      : params_(&params), path_(std::move(path)) {}
  Scope operator/(std::string_view child) const;
  Scope operator/(int64_t child) const { return *this / std::to_string(child); }

  // Declares PATH.weight (or PATH.leaf) with these axes; its value is in the compute type.
  Value weight(std::vector<Axis> axes, std::string_view leaf = "weight") const;
  // The same of one that is saved with the weights but never trained.
  Value constant(std::vector<Axis> axes, std::string_view leaf) const;
  // Declares PATH.weight, whose values are made where they are used: of a linear layer, or a table.
  Matrix matrix(Axis rows, Axis columns) const;
  Matrix table(Axis rows, Axis columns) const;  // never quantised
  // Declares PATH.leaf, [count, rows, columns]: a matrix for each of `count`; never quantised.
  Matrix stack(Axis count, Axis rows, Axis columns, std::string_view leaf) const;
  // Declares PATH.leaf, one of an adapter's weights, f32.
  Value adapter_weight(std::string_view leaf, std::vector<Axis> axes) const;

  const std::string& path() const { return path_; }
  Params& params() const { return *params_; }

 private:
  enum class Kind { kWeight, kMatrix, kConstant };
  Matrix declare(const std::string& name, const std::vector<Axis>& axes, Kind kind) const;

  Params* params_;
  std::string path_;
};

}  // namespace hone::nn
