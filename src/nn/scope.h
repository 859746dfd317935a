// Where a model's weights are declared: a Scope is a place in the checkpoint's name tree, and one
// expression names a weight, its shape and its logical axes. Loading, saving, LoRA targets and
// sharding all come from these declarations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

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

// LoRA on the linear layers (Hu et al., arXiv:2106.09685): y = W x + scale B A x.
struct Lora {
  int64_t rank = 16;
  double scale = 2.0;    // alpha / rank
  double dropout = 0.0;  // of x, on its way to A, while training
  // Last components of module paths, such as "q_proj", or "all-linear": every linear layer but the
  // output head.
  std::vector<std::string> targets = {"all-linear"};

  bool applies_to(std::string_view path) const;
};

// What a model is built into: the graph, and the weights declared so far.
struct Params {
  Graph& graph;
  DType compute = DType::kF32;  // activations and weights in the graph
  std::optional<Lora> lora = {};
  Value dropout_key = {};            // u64 [2]; set while training with dropout
  std::vector<Weight> base = {};     // in declaration order
  std::vector<Weight> adapter = {};  // lora_A and lora_B, always f32
};

class Scope {
 public:
  explicit Scope(Params& params, std::string path = "")
      : params_(&params), path_(std::move(path)) {}
  Scope operator/(std::string_view child) const;
  Scope operator/(int64_t child) const { return *this / std::to_string(child); }

  // Declares PATH.weight (or PATH.leaf) with these axes.
  Value weight(std::vector<Axis> axes, std::string_view leaf = "weight") const;
  // Declares PATH.leaf.weight among the adapter's weights, f32.
  Value adapter_weight(std::string_view leaf, std::vector<Axis> axes) const;

  const std::string& path() const { return path_; }
  Params& params() const { return *params_; }

 private:
  Params* params_;
  std::string path_;
};

}  // namespace hone::nn
