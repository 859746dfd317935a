#include "nn/loss.h"

#include "ops/ops.h"

namespace hone::nn {

Value log_probability(Value logits, Value labels) {
  // A look-up whose gradient is a select, not a scatter.
  const Value at = iota(*logits.graph, logits.dims(), 1, DType::kS32);
  const Value is_label = compare(at, Compare::kEq, spread_last(labels, at));
  const Value picked = sum(select(is_label, logits, zeros_like(logits)), {1});
  return picked - log_sum_exp_last(logits);
}

}  // namespace hone::nn
