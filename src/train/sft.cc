// Supervised fine-tuning: the cross-entropy of the targets.
#include "ops/ops.h"
#include "train/objective.h"

namespace hone::train {
namespace {

Objective::Sums sums(const ObjectiveRecipe&, const Objective::Targets& t) {
  return {-sum(t.log_probability * t.weights, {0}), sum(t.weights, {0}), {}};
}

}  // namespace

extern const Objective kSft{"sft", /*pairs=*/false, /*reference=*/false, {}, sums};

}  // namespace hone::train
