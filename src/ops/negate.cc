// -x, element-wise.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value, Value dy) { return {-dy}; }

}  // namespace

extern const Op kNegate{"negate", same_type, call, vjp};
Value operator-(Value x) { return apply(kNegate, {x}); }

}  // namespace hone
