// a - b, element-wise.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value, Value dy) { return {dy, -dy}; }

}  // namespace

extern const Op kSubtract{"subtract", same_type, call, vjp};
Value operator-(Value a, Value b) { return apply(kSubtract, {a, b}); }

}  // namespace hone
