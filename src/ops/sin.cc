// sin(x), element-wise.   d sin = cos dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value, Value dy) { return {dy * cos(n.in[0])}; }

}  // namespace

extern const Op kSin{"sine", same_type, call, vjp};
Value sin(Value x) { return apply(kSin, {x}); }

}  // namespace hone
