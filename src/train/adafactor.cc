// Adafactor (Shazeer and Stern, arXiv:1804.04235) with the recipe's rate and without momentum: what
// transformers' Adafactor does with scale_parameter=False and relative_step=False, and its values
// for the rest. A matrix keeps one second moment a row and one a column. The decay comes before the
// step. Of the recipe's fields betas and eps have no say.
#include <cmath>

#include "ops/ops.h"
#include "train/optimizer.h"

namespace hone::train {
namespace {

constexpr double kDecayRate = -0.8, kEps = 1e-30, kClipThreshold = 1.0;

Dims without(const Dims& dims, int64_t axis_from_end) {
  Dims rest = dims;
  rest.erase(rest.end() - axis_from_end);
  return rest;
}

std::vector<Optimizer::Slot> slots(const OptimRecipe&, const Type& weight) {
  if (weight.rank() < 2) return {{"v", weight}};
  return {{"v_row", {DType::kF32, without(weight.dims, 1)}},
          {"v_col", {DType::kF32, without(weight.dims, 2)}}};
}

// The share of the old second moment, and of the new.
std::vector<double> numbers(const OptimRecipe&, int64_t step) {
  const double fresh = std::pow(static_cast<double>(step), kDecayRate);
  return {1.0 - fresh, fresh};
}

Value mean(Value x, int64_t axis) { return sum(x, {axis}) / static_cast<double>(x.dim(axis)); }

Value mix(const Optimizer::Now& now, Value old, Value fresh) {
  return old * everywhere(now.numbers[0], old) + fresh * everywhere(now.numbers[1], fresh);
}

// Along every axis but `axis`.
Value spread_along(Value x, Value like, int64_t axis) {
  Dims axes;
  for (int64_t i = 0; i < like.rank(); ++i)
    if (i != axis) axes.push_back(i);
  return broadcast(x, like.dims(), axes);
}

Value root_mean_square(Value x) {
  Dims axes;
  for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  return sqrt(sum(x * x, axes) / static_cast<double>(x.type().size()));
}

Optimizer::Update update(const OptimRecipe&, const Optimizer::Now& now) {
  const Value w = now.weight, d = now.gradient, square = d * d + kEps;
  Value scaled;
  Values kept;
  if (w.rank() < 2) {
    kept = {mix(now, now.slots[0], square)};
    scaled = rsqrt(kept[0]) * d;
  } else {
    const int64_t last = w.rank() - 1;
    const Value row = mix(now, now.slots[0], mean(square, last));
    const Value col = mix(now, now.slots[1], mean(square, last - 1));
    const Value row_share = row / spread_along(mean(row, last - 1), row, last - 1);
    scaled = spread_along(rsqrt(row_share), d, last) * spread_along(rsqrt(col), d, last - 1) * d;
    kept = {row, col};
  }
  const Value over = root_mean_square(scaled) / kClipThreshold;
  const Value step = scaled / everywhere(maximum(over, constant_like(over, 1.0)), scaled);
  const Value decayed = w * everywhere(-(now.lr * now.decay - 1.0), w);
  return {decayed - step * everywhere(now.lr, step), kept};
}

}  // namespace

extern const Optimizer kAdafactor{"adafactor", slots, numbers, update};

}  // namespace hone::train
