// What is trained of a model: adapters, whole weights, or both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::nn {

// Low-rank adapters on linear layers (LoRA, Hu et al., arXiv:2106.09685): y = W x + scale B A x.
// With `dora` (Liu et al., arXiv:2402.09353) the rows of W + scale B A are brought to trained
// lengths.
struct Lora {
  int64_t rank = 16;
  double alpha = 32;
  bool rank_stabilised = false;  // scale alpha / sqrt(rank) (arXiv:2312.03732), not alpha / rank
  bool dora = false;
  double dropout = 0.0;  // of x, on its way to A, while training
  // Names as names_module() takes them, or "all-linear": every linear layer but the output head.
  std::vector<std::string> targets = {"all-linear"};
  std::vector<std::string> exclude = {};  // of the targets
  // Weights that hold the matrices of many experts, by the ends of their paths ("down_proj" or
  // "mlp.experts.down_proj"): each of its matrices gets an adapter. `targets`, `exclude` and
  // `layers` do not concern them.
  std::vector<std::string> parameters = {};
  // Of the layers with these numbers alone; empty means all. A layer's number follows the first of
  // `layer_lists` in its path, or is the first number there when these are empty.
  std::vector<int64_t> layers = {};
  std::vector<std::string> layer_lists = {};
  // Instead of `rank` and `alpha` where `match` names the module; of each, the first that does.
  struct Other {
    std::string match;
    std::optional<int64_t> rank;
    std::optional<double> alpha;
    bool operator==(const Other&) const = default;
  };
  std::vector<Other> others = {};

  struct At {
    int64_t rank;
    double alpha, scale;
  };
  std::optional<At> at(std::string_view path) const;            // nothing where no target matches
  std::optional<At> at_parameter(std::string_view path) const;  // nothing where none of them does

 private:
  At sizes_at(std::string_view path) const;
};

// All else is frozen.
struct Tuning {
  std::optional<Lora> lora = {};
  // Modules whose own weights are trained, and all inside them; "all" is full fine-tuning.
  std::vector<std::string> whole = {};

  bool trains(std::string_view path) const;  // the module's own weights
  // A module that is trained whole has no adapter.
  std::optional<Lora::At> adapter_at(std::string_view path) const;
  std::optional<Lora::At> adapter_at_parameter(std::string_view path) const;
};

bool is_head(std::string_view path);  // the output head: neither "all-linear" nor quantised

}  // namespace hone::nn
