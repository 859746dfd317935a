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

// Low-rank adapters on linear layers (LoRA, Hu et al., arXiv:2106.09685): y = W x + scale B A x.
// With `dora` (Liu et al., arXiv:2402.09353) the rows of W + scale B A are brought to trained
// lengths.
struct Lora {
  int64_t rank = 16;
  double alpha = 32;
  bool rank_stabilised = false;  // scale alpha / sqrt(rank) (arXiv:2312.03732), not alpha / rank
  bool dora = false;
  double dropout = 0.0;  // of x, on its way to A, while training
  // Module paths, or their ends ("q_proj"), or "all-linear": every linear layer but the output
  // head.
  std::vector<std::string> targets = {"all-linear"};

  struct At {
    int64_t rank;
    double scale;
  };
  std::optional<At> at(std::string_view path) const;  // nothing where no target matches
};

// What is trained; all else is frozen.
struct Tuning {
  std::optional<Lora> lora = {};
  // Modules whose own weights are trained, named as Lora's targets; "all" is full fine-tuning.
  std::vector<std::string> whole = {};

  bool trains(std::string_view path) const;  // the module's own weights
};

// `target` is the path or its end from a dot on.
bool names_module(std::string_view target, std::string_view path);

// What a model is built into: the graph, and the weights declared so far. It outlives the model.
struct Params {
  Graph& graph;
  Tuning tuning = {};
  DType compute = DType::kF32;       // activations and weights in the graph
  Value dropout_key = {};            // u64 [2], of the micro-batch at hand; {} drops nothing
  std::vector<Weight> frozen = {};   // in declaration order
  std::vector<Weight> trained = {};  // always f32
};

class Scope {
 public:
  explicit Scope(Params& params, std::string path = "")
      : params_(&params), path_(std::move(path)) {}
  Scope operator/(std::string_view child) const;
  Scope operator/(int64_t child) const { return *this / std::to_string(child); }

  // Declares PATH.weight (or PATH.leaf) with these axes; its value is in the compute type.
  Value weight(std::vector<Axis> axes, std::string_view leaf = "weight") const;
  // Declares PATH.leaf, one of an adapter's weights, f32.
  Value adapter_weight(std::string_view leaf, std::vector<Axis> axes) const;

  const std::string& path() const { return path_; }
  Params& params() const { return *params_; }

 private:
  Params* params_;
  std::string path_;
};

}  // namespace hone::nn
