#include "nn/loss.h"

#include "ops/ops.h"

namespace hone::nn {

Value cross_entropy(Value logits, Value labels, Value weights) {
  Graph& g = *logits.graph;
  // A look-up whose gradient is a select, not a scatter.
  const Value at = iota(g, logits.dims(), 1, DType::kS32);
  const Value is_label = compare(at, Compare::kEq, spread_last(labels, at));
  const Value picked = sum(select(is_label, logits, zeros_like(logits)), {1});
  return sum((log_sum_exp_last(logits) - picked) * weights, {0});
}

}  // namespace hone::nn
