// not x; bit-wise on integers.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kNot{"not", same_type, call};
Value logical_not(Value x) { return apply(kNot, {x}); }

}  // namespace hone
