// Lion (Chen et al., arXiv:2302.06675, algorithm 2): the sign of betas[0] m + (1 - betas[0]) d is
// the step, and m follows by betas[1]. Its authors use betas=[0.9, 0.99], a rate 3 to 10 times
// below AdamW's, and a decay as many times above. The decay comes first, as in PyTorch's AdamW.
#include "ops/ops.h"
#include "train/optimizer.h"

namespace hone::train {
namespace {

// 1, -1, or 0 of a zero.
Value sign(Value x) {
  const Value zero = zeros_like(x), one = constant_like(x, 1.0);
  return select(compare(x, Compare::kGt, zero), one,
                select(compare(x, Compare::kLt, zero), -one, zero));
}

std::vector<Optimizer::Slot> slots(const OptimRecipe&, const Type& weight) {
  return {{"m", weight}};
}

std::vector<double> numbers(const OptimRecipe&, int64_t) { return {}; }

Optimizer::Update update(const OptimRecipe& r, const Optimizer::Now& now) {
  const Value w = now.weight, d = now.gradient, m = now.slots[0];
  const Value step = sign(m * r.betas[0] + d * (1.0 - r.betas[0]));
  const Value decayed = w * everywhere(-(now.lr * now.decay - 1.0), w);
  return {decayed - everywhere(now.lr, step) * step, {m * r.betas[1] + d * (1.0 - r.betas[1])}};
}

}  // namespace

extern const Optimizer kLion{"lion", slots, numbers, update};

}  // namespace hone::train
