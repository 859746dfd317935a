// a shifted right by b bits, zeros coming in.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kShiftRight{"shift_right_logical", same_type, call};
Value shift_right(Value a, Value b) { return apply(kShiftRight, {a, b}); }

}  // namespace hone
