#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace hone::train {
namespace {

// How much of `length` lies behind, at most 1; of no length, all of it.
double share(int64_t done, int64_t length) {
  if (done >= length) return 1;
  return static_cast<double>(done) / static_cast<double>(length);
}

double between(double from, double to, double share) { return to + (from - to) * (1 - share); }

// From 0 to 1 with no slope at either end.
double half_cosine(double share) { return 0.5 * (1.0 - std::cos(std::numbers::pi * share)); }

double one_cycle(const Schedule& s, int64_t step) {
  constexpr double kStart = 1.0 / 25,
                   kEnd = kStart / 1e4;  // PyTorch's div_factor, final_div_factor
  const int64_t top = std::max<int64_t>(0, s.warmup - 1);
  if (step < top) return between(kStart, 1, half_cosine(share(step, top)));
  const double fall = half_cosine(share(step - top, s.steps - 1 - top));
  return between(1, std::max(s.floor, kEnd), step == top ? 0 : fall);
}

// As a share of the peak.
double factor(const Schedule& s, int64_t step) {
  if (s.kind == "one-cycle") return one_cycle(s, step);
  if (step < s.warmup) return share(step, s.warmup);
  if (s.kind == "constant") return 1;
  const double done = share(step - s.warmup, s.steps - s.warmup);
  if (s.kind == "linear") return between(1, s.floor, done);
  if (s.kind == "cosine") return between(1, s.floor, half_cosine(done));
  check(s.kind == "wsd", "schedule \"{}\" passed the recipe's check", s.kind);
  const int64_t cooldown = std::min(s.cooldown, s.steps - s.warmup), start = s.steps - cooldown;
  return step < start ? 1 : between(1, s.floor, half_cosine(share(step - start, cooldown)));
}

// A share of the steps, rounded up as Hugging Face does.
int64_t part_of(double share, int64_t steps) {
  return static_cast<int64_t>(std::ceil(share * static_cast<double>(steps)));
}

}  // namespace

double Schedule::at(int64_t step) const { return peak * factor(*this, step); }

Schedule schedule_of(const OptimRecipe& r, int64_t steps) {
  return {.kind = r.schedule,
          .peak = r.lr,
          .floor = r.floor,
          .warmup = r.warmup < 1 ? part_of(r.warmup, steps) : static_cast<int64_t>(r.warmup),
          .cooldown = part_of(r.cooldown, steps),
          .steps = steps};
}

}  // namespace hone::train
