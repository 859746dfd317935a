// The same elements, in the same row-major order, under other dimensions.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Type t{n.operand(0).dtype, n.list("to")};
  if (t.size() != n.operand(0).size())
    throw ShapeError("reshape: {} has not the size of {}", n.operand(0).str(), t.str());
  return t;
}

std::string emit(const Node& n, Args args) { return "stablehlo.reshape " + args[0] + signature(n); }

Values vjp(const Node& n, Value, Value dy) { return {reshape(dy, n.operand(0).dims)}; }

}  // namespace

extern const Op kReshape{"reshape", infer, emit, vjp};
Value reshape(Value x, Dims dims) {
  return x.dims() == dims ? x : apply(kReshape, {x}, {{"to", std::move(dims)}});
}

}  // namespace hone
