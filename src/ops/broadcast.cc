// Repeats x along new axes: x's axis i becomes result axis axes[i]; an axis of size 1 may grow.
#include <algorithm>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Dims &to = n.list("to"), &axes = n.list("axes"), &from = n.operand(0).dims;
  bool fits = axes.size() == from.size() && std::is_sorted(axes.begin(), axes.end());
  for (size_t i = 0; fits && i < axes.size(); ++i)
    fits = axes[i] >= 0 && axes[i] < static_cast<int64_t>(to.size()) &&
           (i == 0 || axes[i] != axes[i - 1]) &&
           (from[i] == 1 || from[i] == to[static_cast<size_t>(axes[i])]);
  if (!fits)
    throw ShapeError("broadcast: {} along axes {} does not fit {}", n.operand(0).str(), list(axes),
                     list(to));
  return {n.operand(0).dtype, to};
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.broadcast_in_dim {}, dims = {}{}", args[0], list(n.list("axes")),
                     signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const Dims &axes = n.list("axes"), &from = n.operand(0).dims, &to = n.list("to");
  Dims summed;
  for (int64_t i = 0; i < dy.rank(); ++i) {
    const auto it = std::find(axes.begin(), axes.end(), i);
    const bool same = it != axes.end() &&
                      from[static_cast<size_t>(it - axes.begin())] == to[static_cast<size_t>(i)];
    if (!same) summed.push_back(i);
  }
  return {reshape(summed.empty() ? dy : sum(dy, summed), from)};
}

}  // namespace

extern const Op kBroadcast{"broadcast", infer, emit, vjp};
Value broadcast(Value x, Dims to, Dims axes) {
  return apply(kBroadcast, {x}, {{"to", std::move(to)}, {"axes", std::move(axes)}});
}

}  // namespace hone
