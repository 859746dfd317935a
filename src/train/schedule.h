// The learning rate of each step.
#pragma once

#include <cstdint>
#include <string>

#include "train/recipe.h"

namespace hone::train {

// Steps count from 0. The warm-up is linear from 0, and then
//   constant   stays at the peak
//   linear     falls to the floor at `steps`
//   cosine     falls to the floor at `steps`, along half a cosine
//   wsd        stays at the peak, and falls to the floor along half a cosine in the last steps
// with the numbers of Hugging Face's schedules (linear, cosine_with_min_lr, warmup_stable_decay).
//   one-cycle  rises from peak / 25 during the warm-up and falls to the floor, or peak / 250,000
//              where that is more, at the last step, both along half a cosine: PyTorch's
//              OneCycleLR, whose pct_start of 0.3 is a warm-up of 0.3
struct Schedule {
  std::string kind = "cosine";
  double peak = 1e-4;
  double floor = 0;  // a share of the peak
  int64_t warmup = 0, cooldown = 0, steps = 1;

  double at(int64_t step) const;
};

Schedule schedule_of(const OptimRecipe& recipe, int64_t steps);

}  // namespace hone::train
