// Another dtype, element-wise: rounded to nearest even; booleans become 0 and 1.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) { return {DType(n.integer("to")), n.operand(0).dims}; }

std::string emit(const Node& n, Args args) { return "stablehlo.convert " + args[0] + signature(n); }

Values vjp(const Node& n, Value, Value dy) {
  const DType from = n.operand(0).dtype;
  return {is_float(from) && is_float(n.type().dtype) ? convert(dy, from) : Value{}};
}

}  // namespace

extern const Op kConvert{"convert", infer, emit, vjp};
Value convert(Value x, DType to) {
  return x.dtype() == to ? x : apply(kConvert, {x}, {{"to", static_cast<int64_t>(to)}});
}

}  // namespace hone
