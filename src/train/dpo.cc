// Direct preference optimisation (Rafailov et al., arXiv:2305.18290), with the label smoothing of
// its conservative form.
#include "ops/ops.h"
#include "train/objective.h"

namespace hone::train {
namespace {

Objective::Sums sums(const ObjectiveRecipe& r, const Objective::Targets& t) {
  const Value now = per_sample(t.log_probability, t);
  const Pairs reward = split_pairs((now - t.reference) * r.beta);
  const Pairs targets = split_pairs(per_sample(constant_like(t.weights, 1.0), t));
  // A pair that is padding has no targets.
  const Value real = minimum(targets.chosen, constant_like(targets.chosen, 1.0));
  const Value margin = reward.chosen - reward.rejected;
  const Value loss =
      -(log_sigmoid(margin) * (1.0 - r.label_smoothing) + log_sigmoid(-margin) * r.label_smoothing);
  const Value right = compare(margin, Compare::kGt, zeros_like(margin));
  auto total = [&](Value v) { return sum(v * real, {0}); };
  return {total(loss),
          sum(real, {0}),
          {total(reward.chosen), total(reward.rejected), total(margin),
           total(select(right, constant_like(margin, 1.0), zeros_like(margin)))}};
}

}  // namespace

extern const Objective kDpo{
    "dpo",
    /*pairs=*/true,
    /*reference=*/true,
    {"rewards/chosen", "rewards/rejected", "rewards/margins", "rewards/accuracies"},
    sums};

}  // namespace hone::train
