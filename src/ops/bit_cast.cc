// The same bits read as another dtype of the same size.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const DType to = DType(n.integer("to"));
  if (byte_size(to) != byte_size(n.operand(0).dtype))
    throw ShapeError("bit_cast: {} has elements of another size than {}", n.operand(0).str(),
                     name(to));
  return {to, n.operand(0).dims};
}

std::string emit(const Node& n, Args args) {
  return "stablehlo.bitcast_convert " + args[0] + signature(n);
}

}  // namespace

extern const Op kBitCast{"bit_cast", infer, emit};
Value bit_cast(Value x, DType to) {
  return apply(kBitCast, {x}, {{"to", static_cast<int64_t>(to)}});
}

}  // namespace hone
