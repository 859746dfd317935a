// tanh(x), element-wise.   d tanh = (1 - tanh^2) dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value y, Value dy) { return {dy - dy * y * y}; }

}  // namespace

extern const Op kTanh{"tanh", same_type, call, vjp};
Value tanh(Value x) { return apply(kTanh, {x}); }

}  // namespace hone
