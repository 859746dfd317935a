// A mixture of experts: each token goes through the few experts that a router picks for it
// (arXiv:1701.06538, 2101.03961). No expert has a capacity, so no token is dropped: tokens are
// sorted by expert, and the experts' matrices meet the rows that are theirs.
//   t token  d hidden  e expert  k experts of a token  f an expert's feed-forward size
#pragma once

#include "nn/attention.h"
#include "nn/grouped_linear.h"
#include "nn/mlp.h"

namespace hone::nn {

// Which experts each token meets, and what their answers are multiplied by.
struct Routing {
  Value experts;  // i32 [t, k]
  Value weights;  // f32 [t, k]
};

// The k most probable experts of each token, by the softmax over all of them in f32; the weights
// are their probabilities, divided by their sum where they are `normalised` (which is the softmax
// over the k alone). Logits are [t, e]. What a load-balance loss needs of it goes to ctx.balance.
Routing route(Value logits, int64_t k, bool normalised, const Context& ctx);

// Declares PATH.weight [experts, hidden]; its logits are f32.
class Router {
 public:
  Router(Scope p, int64_t hidden, int64_t experts);
  Value operator()(Value x) const;  // [t, hidden] -> [t, experts]

 private:
  Value w_;
};

// The experts themselves, gated as a GatedMlp is: PATH.gate_up_proj [experts, 2 ffw, hidden], of
// which the first half is the gates, and PATH.down_proj [experts, hidden, ffw].
class Experts {
 public:
  Experts(Scope p, int64_t hidden, int64_t ffw, int64_t experts, GatedMlp::Activation activation);
  // The weighted sum of each token's experts: [t, hidden] -> the same.
  Value operator()(Value x, const Routing& routing) const;

 private:
  GroupedLinear gate_up_, down_;
  GatedMlp::Activation act_;
  int64_t experts_, ffw_;
};

// The feed-forward layer of Mixtral and its like: PATH.gate is the router, PATH.experts are its
// experts.
class SparseMlp {
 public:
  struct Sizes {
    int64_t experts = 0, chosen = 0, ffw = 0;  // chosen: of each token
    bool normalised = true;
  };
  SparseMlp(Scope p, int64_t hidden, const Sizes& sizes, GatedMlp::Activation activation)
      : gate_(p / "gate", hidden, sizes.experts),
        experts_(p / "experts", hidden, sizes.ffw, sizes.experts, activation),
        sizes_(sizes) {}

  Value operator()(Value x, const Context& ctx) const;  // [b, s, hidden] -> the same

 private:
  Router gate_;
  Experts experts_;
  Sizes sizes_;
};

// What a load-balance loss needs of the routers of one forward pass. f32 [3, e] of each router:
// the tokens that each expert got, the sums of its probabilities, and everywhere the number of
// tokens; padding is no token.
struct Balance {
  Values routers;

  // e sum over experts of (share of the tokens) (mean probability), over the tokens of all routers
  // together: equation 4 of arXiv:2101.03961 as transformers computes it, where an even routing of
  // k experts a token gives k. An f32 scalar. The gradient goes to the probabilities.
  Value loss() const;
};

}  // namespace hone::nn
