// A block of fixed size whose start is known at run time; it is moved inside when it would not fit.
#include <fmt/ranges.h>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Type& x = n.operand(0);
  const Dims& sizes = n.list("sizes");
  bool fits = sizes.size() == x.dims.size() && n.in.size() == x.dims.size() + 1;
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = sizes[i] >= 0 && sizes[i] <= x.dims[i] && n.operand(i + 1) == Type{DType::kS32, {}};
  if (!fits) throw ShapeError("dynamic_slice: sizes {} of {}", list(sizes), x.str());
  return {x.dtype, sizes};
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.dynamic_slice {}, sizes = {}{}", fmt::join(args, ", "),
                     list(n.list("sizes")), signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  Values d(n.in.size());
  d[0] = dynamic_update_slice(constant(*dy.graph, n.operand(0), 0.0), dy,
                              Values(n.in.begin() + 1, n.in.end()));
  return d;
}

}  // namespace

extern const Op kDynamicSlice{"dynamic_slice", infer, emit, vjp};
Value dynamic_slice(Value x, Values start, Dims sizes) {
  start.insert(start.begin(), x);
  return apply(kDynamicSlice, std::move(start), {{"sizes", std::move(sizes)}});
}

}  // namespace hone
