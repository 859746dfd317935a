// Natural logarithm, element-wise.   d log = dx / x
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node& n, Value, Value dy) { return {dy / n.in[0]}; }

}  // namespace

extern const Op kLog{"log", same_type, call, vjp};
Value log(Value x) { return apply(kLog, {x}); }

}  // namespace hone
