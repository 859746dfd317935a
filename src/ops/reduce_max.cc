// The maximum along some axes, which disappear; the gradient is shared by equal maxima.
#include <limits>

#include "ir/text.h"
#include "ops/ops.h"
#include "ops/reduce.h"

namespace hone {
namespace {

std::string emit(const Node& n, Args args) { return emit_reduce("maximum", n, args); }

Values vjp(const Node& n, Value y, Value dy) {
  const Value x = n.in[0];
  const Dims kept = kept_axes(n);
  const Value at_max = convert(compare(x, Compare::kEq, broadcast(y, x.dims(), kept)), x.dtype());
  const Value share = dy / sum(at_max, n.list("axes"));
  return {broadcast(share, x.dims(), kept) * at_max, {}};
}

}  // namespace

extern const Op kReduceMax{"reduce_max", infer_reduce, emit, vjp};
Value reduce_max(Value x, Dims axes) {
  const double lowest = is_float(x.dtype()) ? -std::numeric_limits<double>::infinity()
                                            : static_cast<double>(std::numeric_limits<int>::min());
  return reduce(kReduceMax, x, std::move(axes), lowest);
}

}  // namespace hone
