// pred ? a : b, element-wise.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  if (n.operand(0) != Type{DType::kPred, n.operand(1).dims} || n.operand(1) != n.operand(2))
    throw ShapeError("select: {} between {} and {}", n.operand(0).str(), n.operand(1).str(),
                     n.operand(2).str());
  return n.operand(1);
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.select {}, {}, {} : {}, {}", args[0], args[1], args[2],
                     n.operand(0).str(), n.type().str());
}

Values vjp(const Node& n, Value, Value dy) {
  const Value zero = zeros_like(dy);
  return {{}, select(n.in[0], dy, zero), select(n.in[0], zero, dy)};
}

}  // namespace

extern const Op kSelect{"select", infer, emit, vjp};
Value select(Value pred, Value on_true, Value on_false) {
  return apply(kSelect, {pred, on_true, on_false});
}

}  // namespace hone
