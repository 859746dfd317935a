// Stochastic gradient descent with momentum betas[0], as PyTorch's: m = betas[0] m + d,
// w = w - lr m. betas=[0, 0] is the plain method and keeps no state.
//
// The decay is decoupled (SGDW, Loshchilov and Hutter, arXiv:1711.05101) and comes first, as with
// the other optimisers here; PyTorch's SGD adds it to the gradient instead.
#include "ops/ops.h"
#include "train/optimizer.h"

namespace hone::train {
namespace {

std::vector<Optimizer::Slot> slots(const OptimRecipe& r, const Type& weight) {
  if (r.betas[0] == 0) return {};
  return {{"m", weight}};
}

std::vector<double> numbers(const OptimRecipe&, int64_t) { return {}; }

Optimizer::Update update(const OptimRecipe& r, const Optimizer::Now& now) {
  const Value w = now.weight, d = now.gradient;
  const Value decayed = w * everywhere(-(now.lr * now.decay - 1.0), w);
  if (now.slots.empty()) return {decayed - everywhere(now.lr, d) * d, {}};
  const Value m = now.slots[0] * r.betas[0] + d;
  return {decayed - everywhere(now.lr, m) * m, {m}};
}

}  // namespace

extern const Optimizer kSgd{"sgd", slots, numbers, update};

}  // namespace hone::train
