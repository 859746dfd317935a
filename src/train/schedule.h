// The learning rate of each step.
#pragma once

#include <cstdint>
#include <string>

#include "train/recipe.h"

namespace hone::train {

// Steps count from 0. Warm-up is linear from 0; then "cosine" falls to 0 at `steps`, "linear" too,
// "constant" stays. The same numbers as Hugging Face's schedules of these names.
struct Schedule {
  std::string kind = "cosine";
  double peak = 1e-4;
  int64_t warmup = 0, steps = 1;

  double at(int64_t step) const;
};

Schedule schedule_of(const OptimRecipe& recipe, int64_t steps);

}  // namespace hone::train
