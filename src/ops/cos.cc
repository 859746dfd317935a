// cos(x), element-wise.   d cos = -sin dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value, Value dy) { return {-(dy * sin(n.in[0]))}; }

}  // namespace

extern const Op kCos{"cosine", same_type, call, vjp};
Value cos(Value x) { return apply(kCos, {x}); }

}  // namespace hone
