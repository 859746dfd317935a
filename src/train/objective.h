// What a run makes small. An objective is one file: it defines one record and adds one line to
// objectives.cc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "train/recipe.h"

namespace hone::train {

struct Objective {
  // The targets of one micro-batch: T of them, in S samples, two samples a pair where the objective
  // compares answers (2i is the chosen one, 2i + 1 the rejected).
  struct Targets {
    Value log_probability;  // f32 [T], of the target token
    Value weights;          // f32 [T], 1, or 0 for padding
    Value samples;          // i32 [T], the sample that each belongs to
    Value reference;        // f32 [S], a sample's sum before the first step; {} without pairs
    int64_t sample_count;   // S
  };
  // Sums over the micro-batch, f32 scalars. The run's loss is the sum of `loss` over the global
  // batch divided by that of `count`, and a metric is its sum divided by the same.
  struct Sums {
    Value loss, count;
    Values metrics;
  };

  std::string_view name;  // objective.kind
  bool pairs;             // its data are chosen and rejected answers
  bool reference;         // it compares with the model as it was before the first step
  std::vector<std::string_view> metrics;
  Sums (*sums)(const ObjectiveRecipe&, const Targets&);
};

std::span<const Objective* const> objectives();
const Objective& objective_of(std::string_view name);  // one of the recipe's schema

// The sum of weights * values of each sample: f32 [S].
Value per_sample(Value values, const Objective::Targets& t);

// Rows 0, 2, 4 ... and 1, 3, 5 ... of [2n].
struct Pairs {
  Value chosen, rejected;  // [n]
};
Pairs split_pairs(Value per_sample);

Value log_sigmoid(Value x);  // without an overflow at either end

}  // namespace hone::train
