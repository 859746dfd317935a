// Square root, element-wise.   d sqrt = dx / (2 sqrt)
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value y, Value dy) { return {dy / y * 0.5}; }

}  // namespace

extern const Op kSqrt{"sqrt", same_type, call, vjp};
Value sqrt(Value x) { return apply(kSqrt, {x}); }

}  // namespace hone
