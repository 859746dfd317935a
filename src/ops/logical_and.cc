// a and b; bit-wise on integers.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kAnd{"and", same_type, call};
Value logical_and(Value a, Value b) { return apply(kAnd, {a, b}); }

}  // namespace hone
