// a / b, element-wise.   d a/b = da / b - (a/b) db / b
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value y, Value dy) { return {dy / n.in[1], -(dy * y / n.in[1])}; }

}  // namespace

extern const Op kDivide{"divide", same_type, call, vjp};
Value operator/(Value a, Value b) { return apply(kDivide, {a, b}); }

}  // namespace hone
