// a or b; bit-wise on integers.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kOr{"or", same_type, call};
Value logical_or(Value a, Value b) { return apply(kOr, {a, b}); }

}  // namespace hone
