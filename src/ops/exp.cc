// exp(x), element-wise.   d exp = exp dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value y, Value dy) { return {dy * y}; }

}  // namespace

extern const Op kExp{"exponential", same_type, call, vjp};
Value exp(Value x) { return apply(kExp, {x}); }

}  // namespace hone
