// Parts one after the other along one axis.
#include <fmt/ranges.h>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const size_t axis = static_cast<size_t>(n.integer("axis"));
  Type t = n.operand(0);
  for (size_t i = 1; i < n.in.size(); ++i) {
    Type part = n.operand(i);
    const bool same_rank = part.rank() == t.rank();
    if (same_rank) t.dims[axis] += std::exchange(part.dims[axis], t.dims[axis] + part.dims[axis]);
    if (!same_rank || part != t)
      throw ShapeError("concat: {} and {} differ outside axis {}", n.operand(0).str(),
                       n.operand(i).str(), axis);
  }
  return t;
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.concatenate {}, dim = {}{}", fmt::join(args, ", "),
                     n.integer("axis"), signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const int64_t axis = n.integer("axis");
  Values parts;
  int64_t at = 0;
  for (const Value& v : n.in) {
    parts.push_back(slice(dy, axis, at, at + v.dim(axis)));
    at += v.dim(axis);
  }
  return parts;
}

}  // namespace

extern const Op kConcat{"concat", infer, emit, vjp};
Value concat(Values parts, int64_t axis) {
  axis = axis_of("concat", parts.front().type(), axis);
  return apply(kConcat, std::move(parts), {{"axis", axis}});
}

}  // namespace hone
