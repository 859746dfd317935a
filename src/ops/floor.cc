// The largest integer not above x, element-wise.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {

extern const Op kFloor{"floor", same_type, call};
Value floor(Value x) { return apply(kFloor, {x}); }

}  // namespace hone
