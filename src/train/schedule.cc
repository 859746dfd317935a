#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace hone::train {

double Schedule::at(int64_t step) const {
  if (step < warmup) return peak * static_cast<double>(step) / static_cast<double>(warmup);
  const double done = static_cast<double>(step - warmup) /
                      static_cast<double>(std::max<int64_t>(1, steps - warmup));
  if (kind == "constant") return peak;
  if (kind == "linear") return peak * std::max(0.0, 1.0 - done);
  check(kind == "cosine", "schedule \"{}\" passed the recipe's check", kind);
  return peak * std::max(0.0, 0.5 * (1.0 + std::cos(std::numbers::pi * done)));
}

Schedule schedule_of(const OptimRecipe& r, int64_t steps) {
  const double warmup = r.warmup < 1 ? std::ceil(r.warmup * static_cast<double>(steps)) : r.warmup;
  return {.kind = r.schedule, .peak = r.lr, .warmup = static_cast<int64_t>(warmup), .steps = steps};
}

}  // namespace hone::train
