// a b, element-wise.   d ab = b da + a db
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value, Value dy) { return {dy * n.in[1], dy * n.in[0]}; }

}  // namespace

extern const Op kMultiply{"multiply", same_type, call, vjp};
Value operator*(Value a, Value b) { return apply(kMultiply, {a, b}); }

}  // namespace hone
