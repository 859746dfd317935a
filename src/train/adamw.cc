// AdamW (Loshchilov and Hutter, arXiv:1711.05101), its terms in PyTorch's order.
#include "train/adamw.h"

#include <cmath>

#include "ops/ops.h"

namespace hone::train {
namespace {

std::vector<Optimizer::Slot> slots(const OptimRecipe&, const Type& weight) {
  return {{"m", weight}, {"v", weight}};
}

// 1 - beta^step, which the moments are divided by.
std::vector<double> numbers(const OptimRecipe& r, int64_t step) {
  const double n = static_cast<double>(step);
  return {1.0 - std::pow(r.betas[0], n), 1.0 - std::pow(r.betas[1], n)};
}

Optimizer::Update update(const OptimRecipe& r, const Optimizer::Now& now) {
  const Value w = now.weight, d = now.gradient;
  const Value m = now.slots[0] * r.betas[0] + d * (1.0 - r.betas[0]);
  const Value v = now.slots[1] * r.betas[1] + d * d * (1.0 - r.betas[1]);
  const Value denominator = sqrt(v) / everywhere(sqrt(now.numbers[1]), v) + r.eps;
  const Value decayed = w * everywhere(-(now.lr * now.decay - 1.0), w);
  return {decayed - everywhere(now.lr / now.numbers[0], m) * m / denominator, {m, v}};
}

}  // namespace

extern const Optimizer kAdamW{"adamw", slots, numbers, update};

}  // namespace hone::train
