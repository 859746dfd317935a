#include "ops/reduce.h"

#include <algorithm>

#include "ir/builtin.h"
#include "ir/text.h"

namespace hone {

Value reduce(const Op& op, Value x, Dims axes, double initial) {
  for (int64_t& a : axes) a = axis_of(op.name, x.type(), a);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    throw ShapeError("{}: axes {} repeat", op.name, list(axes));
  return apply(op, {x, constant(*x.graph, {x.dtype(), {}}, initial)}, {{"axes", std::move(axes)}});
}

Dims kept_axes(const Node& n) {
  const Dims& axes = n.list("axes");
  Dims kept;
  for (int64_t i = 0; i < n.operand(0).rank(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), i)) kept.push_back(i);
  return kept;
}

Type infer_reduce(const Node& n) {
  Type t{n.operand(0).dtype, {}};
  for (int64_t i : kept_axes(n)) t.dims.push_back(n.operand(0).dims[static_cast<size_t>(i)]);
  return t;
}

std::string emit_reduce(std::string_view combine, const Node& n, Args args) {
  return fmt::format("stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = {}{}",
                     args[0], args[1], combine, list(n.list("axes")), signature(n));
}

}  // namespace hone
