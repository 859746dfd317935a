// Muon (Jordan, https://kellerjordan.github.io/posts/muon), as torch.optim.Muon of PyTorch 2.9 with
// Nesterov momentum betas[0] and adjust_lr_fn="match_rms_adamw" (Liu et al., arXiv:2502.16982): the
// step has the size of AdamW's, so that one rate serves both. Its authors use betas[0] = 0.95.
//
// m = betas[0] m + (1 - betas[0]) d; the step is the matrix nearest to an orthogonal one of
// betas[0] m + (1 - betas[0]) d; the decay comes before it. The five Newton-Schulz steps are in f32
// (in PyTorch: bf16). Weights that are not matrices are left to AdamW.
#include <algorithm>
#include <cmath>

#include "ops/ops.h"
#include "train/adamw.h"

namespace hone::train {
namespace {

constexpr int kSteps = 5;
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315, kSmallestNorm = 1e-7;

std::vector<Optimizer::Slot> slots(const OptimRecipe& r, const Type& weight) {
  if (weight.rank() != 2) return kAdamW.slots(r, weight);
  return {{"m", weight}};
}

std::vector<double> numbers(const OptimRecipe& r, int64_t step) { return kAdamW.numbers(r, step); }

// U V^T of x = U S V^T, with singular values between about 0.7 and 1.2 instead of 1.
Value orthogonal(Value x) {
  const bool tall = x.dim(0) > x.dim(1);
  if (tall) x = transpose(x, {1, 0});
  const Value norm = sqrt(sum(x * x, {0, 1}));
  x = x / everywhere(maximum(norm, constant_like(norm, kSmallestNorm)), x);
  for (int i = 0; i < kSteps; ++i) {
    const Value gram = einsum("ij,kj->ik", x, x);
    const Value by = gram * kB + einsum("ij,jk->ik", gram, gram) * kC;
    x = x * kA + einsum("ij,jk->ik", by, x);
  }
  return tall ? transpose(x, {1, 0}) : x;
}

Optimizer::Update update(const OptimRecipe& r, const Optimizer::Now& now) {
  const Value w = now.weight, d = now.gradient;
  if (w.rank() != 2) return kAdamW.update(r, now);
  auto mix = [&](Value m) { return m * r.betas[0] + d * (1.0 - r.betas[0]); };
  const Value m = mix(now.slots[0]);
  const Value step = orthogonal(mix(m));
  const double size = 0.2 * std::sqrt(static_cast<double>(std::max(w.dim(0), w.dim(1))));
  const Value decayed = w * everywhere(-(now.lr * now.decay - 1.0), w);
  return {decayed - step * everywhere(now.lr * size, step), {m}};
}

}  // namespace

extern const Optimizer kMuon{"muon", slots, numbers, update};

}  // namespace hone::train
