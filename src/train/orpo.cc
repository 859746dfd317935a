// Odds ratio preference optimisation (Hong et al., arXiv:2403.07691): the mean cross-entropy of the
// chosen answer, and beta times the log odds ratio of the two answers' mean log-probabilities.
#include "ops/ops.h"
#include "train/objective.h"

namespace hone::train {
namespace {

Objective::Sums sums(const ObjectiveRecipe& r, const Objective::Targets& t) {
  const Value count = per_sample(constant_like(t.weights, 1.0), t);
  const Value one = constant_like(count, 1.0);
  const Pairs mean = split_pairs(per_sample(t.log_probability, t) / maximum(count, one));
  const Pairs targets = split_pairs(count);
  // A pair that is padding has no targets. Its means are 0, the odds of which are infinite.
  const Value is_real = compare(targets.chosen, Compare::kGt, zeros_like(targets.chosen));
  auto log_odds = [&](Value log_p) {
    const Value p = select(is_real, log_p, constant_like(log_p, -1.0));
    return p - log(-(exp(minimum(p, constant_like(p, -1e-6))) - 1.0));
  };
  const Value ratio = log_odds(mean.chosen) - log_odds(mean.rejected);
  const Value loss = -mean.chosen - log_sigmoid(ratio) * r.beta;
  const Value right = compare(ratio, Compare::kGt, zeros_like(ratio));
  auto total = [&](Value v) { return sum(select(is_real, v, zeros_like(v)), {0}); };
  return {total(loss),
          total(constant_like(ratio, 1.0)),
          {total(-mean.chosen), total(ratio),
           total(select(right, constant_like(ratio, 1.0), zeros_like(ratio)))}};
}

}  // namespace

extern const Objective kOrpo{"orpo",
                             /*pairs=*/true,
                             /*reference=*/false,
                             {"nll", "log_odds_ratio", "rewards/accuracies"},
                             sums};

}  // namespace hone::train
