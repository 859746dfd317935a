// An optimiser is one file: it defines one record and adds one line to optimizers.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "train/recipe.h"

namespace hone::train {

struct Optimizer {
  // An array that is kept for a weight from step to step; every element starts as `start`.
  struct Slot {
    std::string_view name;  // "m", "v"
    Type type;
    double start = 0;
  };
  struct Update {
    Value weight;
    Values slots;
  };
  // What one weight's update is made from.
  struct Now {
    Value weight, gradient;  // f32, of one shape
    Values slots;            // as slots() lists them
    Value lr;                // f32 scalar
    double decay;            // of this weight; decoupled
    Values numbers;          // f32 scalars, as numbers() lists them
  };

  std::string_view name;  // optim.kind
  std::vector<Slot> (*slots)(const OptimRecipe&, const Type& weight);
  // What changes with the step (which counts from 1) alone, worked out in f64 on the host because
  // it cancels in f32: bias corrections. Always of one length.
  std::vector<double> (*numbers)(const OptimRecipe&, int64_t step);
  Update (*update)(const OptimRecipe&, const Now&);
};

std::span<const Optimizer* const> optimizers();
const Optimizer& optimizer_of(std::string_view name);  // one of the recipe's schema

// A scalar for every element of `like`.
Value everywhere(Value scalar, Value like);

}  // namespace hone::train
