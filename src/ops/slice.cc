// The range [lo, hi) of one axis.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

struct Range {
  size_t axis;
  int64_t lo, hi;
  explicit Range(const Node& n)
      : axis(static_cast<size_t>(n.integer("axis"))), lo(n.integer("lo")), hi(n.integer("hi")) {}
};

Type infer(const Node& n) {
  const Range r(n);
  Type t = n.operand(0);
  if (r.lo < 0 || r.hi > t.dims[r.axis] || r.lo >= r.hi)
    throw ShapeError("slice: [{}, {}) of axis {} of {}", r.lo, r.hi, r.axis, t.str());
  t.dims[r.axis] = r.hi - r.lo;
  return t;
}

std::string emit(const Node& n, Args args) {
  const Range r(n);
  std::string ranges;
  for (size_t i = 0; i < n.operand(0).dims.size(); ++i)
    ranges += fmt::format("{}{}:{}", i ? ", " : "", i == r.axis ? r.lo : 0,
                          i == r.axis ? r.hi : n.operand(0).dims[i]);
  return fmt::format("stablehlo.slice {} [{}]{}", args[0], ranges, signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const Range r(n);
  Dims low(n.operand(0).dims.size(), 0), high = low;
  low[r.axis] = r.lo;
  high[r.axis] = n.operand(0).dims[r.axis] - r.hi;
  return {pad(dy, low, high)};
}

}  // namespace

extern const Op kSlice{"slice", infer, emit, vjp};
Value slice(Value x, int64_t axis, int64_t lo, int64_t hi) {
  axis = axis_of("slice", x.type(), axis);
  if (lo == 0 && hi == x.dim(axis)) return x;
  return apply(kSlice, {x}, {{"axis", axis}, {"lo", lo}, {"hi", hi}});
}

}  // namespace hone
