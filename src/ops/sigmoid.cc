// 1 / (1 + e^-x), element-wise.   d s = s (1 - s) dx
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Values vjp(const Node&, Value y, Value dy) { return {dy * (y - y * y)}; }

}  // namespace

extern const Op kSigmoid{"logistic", same_type, call, vjp};
Value sigmoid(Value x) { return apply(kSigmoid, {x}); }

}  // namespace hone
