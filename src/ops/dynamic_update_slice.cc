// x with one block replaced, at a start known at run time; it is moved inside when it would not
// fit.
#include <fmt/ranges.h>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Type &x = n.operand(0), &update = n.operand(1);
  bool fits =
      x.dtype == update.dtype && x.rank() == update.rank() && n.in.size() == x.dims.size() + 2;
  for (size_t i = 0; fits && i < x.dims.size(); ++i)
    fits = update.dims[i] <= x.dims[i] && n.operand(i + 2) == Type{DType::kS32, {}};
  if (!fits)
    throw ShapeError("dynamic_update_slice: {} does not fit into {}", update.str(), x.str());
  return x;
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.dynamic_update_slice {}{}", fmt::join(args, ", "), signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const Values start(n.in.begin() + 2, n.in.end());
  Values d(n.in.size());
  d[0] = dynamic_update_slice(dy, constant(*dy.graph, n.operand(1), 0.0), start);
  d[1] = dynamic_slice(dy, start, n.operand(1).dims);
  return d;
}

}  // namespace

extern const Op kDynamicUpdateSlice{"dynamic_update_slice", infer, emit, vjp};
Value dynamic_update_slice(Value x, Value update, Values start) {
  start.insert(start.begin(), {x, update});
  return apply(kDynamicUpdateSlice, std::move(start));
}

}  // namespace hone
