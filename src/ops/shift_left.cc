// a shifted left by b bits.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kShiftLeft{"shift_left", same_type, call};
Value shift_left(Value a, Value b) { return apply(kShiftLeft, {a, b}); }

}  // namespace hone
