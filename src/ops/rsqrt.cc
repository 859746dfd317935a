// 1 / sqrt(x), element-wise.   d x^-1/2 = -1/2 x^-3/2 dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value y, Value dy) { return {dy * y * y * y * -0.5}; }

}  // namespace

extern const Op kRsqrt{"rsqrt", same_type, call, vjp};
Value rsqrt(Value x) { return apply(kRsqrt, {x}); }

}  // namespace hone
