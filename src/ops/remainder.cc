// The remainder of a / b, with a's sign.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kRemainder{"remainder", same_type, call};
Value remainder(Value a, Value b) { return apply(kRemainder, {a, b}); }

}  // namespace hone
