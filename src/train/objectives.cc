// The table of objectives, and what they share.
#include <algorithm>

#include "base/check.h"
#include "ops/ops.h"
#include "train/objective.h"

namespace hone::train {

extern const Objective kSft, kDpo, kOrpo;  // one a file

std::span<const Objective* const> objectives() {
  static const Objective* const all[] = {&kSft, &kDpo, &kOrpo};
  return all;
}

const Objective& objective_of(std::string_view name) {
  const auto it = std::ranges::find(objectives(), name, &Objective::name);
  check(it != objectives().end(), "objective \"{}\" passed the recipe's check", name);
  return **it;
}

Value per_sample(Value values, const Objective::Targets& t) {
  const Dims table{values.dim(0), t.sample_count};
  const Value column = iota(*values.graph, table, 1, DType::kS32);
  const Value mine = compare(column, Compare::kEq, broadcast(t.samples, table, {0}));
  const Value spread = broadcast(values * t.weights, table, {0});
  return sum(select(mine, spread, zeros_like(spread)), {0});
}

Pairs split_pairs(Value v) {
  const Value rows = reshape(v, {v.dim(0) / 2, 2});
  return {reshape(slice(rows, 1, 0, 1), {rows.dim(0)}),
          reshape(slice(rows, 1, 1, 2), {rows.dim(0)})};
}

Value log_sigmoid(Value x) { return minimum(x, zeros_like(x)) - log(exp(-maximum(x, -x)) + 1.0); }

}  // namespace hone::train
