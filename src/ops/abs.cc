// |x|, element-wise; the gradient at 0 is 0.   d |x| = sign(x) dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value, Value dy) {
  const Value x = n.in[0], zero = zeros_like(x);
  return {select(compare(x, Compare::kGt, zero), dy,
                 select(compare(x, Compare::kLt, zero), -dy, zero))};
}

}  // namespace

extern const Op kAbs{"abs", same_type, call, vjp};
Value abs(Value x) { return apply(kAbs, {x}); }

}  // namespace hone
