// a xor b; bit-wise on integers.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kXor{"xor", same_type, call};
Value logical_xor(Value a, Value b) { return apply(kXor, {a, b}); }

}  // namespace hone
