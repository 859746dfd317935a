// The sum along some axes, which disappear.   d sum = dx, repeated
#include <algorithm>

#include "ir/text.h"
#include "ops/ops.h"
#include "ops/reduce.h"

namespace hone {
namespace {

std::string emit(const Node& n, Args args) { return emit_reduce("add", n, args); }

Values vjp(const Node& n, Value, Value dy) {
  return {broadcast(dy, n.operand(0).dims, kept_axes(n)), {}};
}

}  // namespace

extern const Op kSum{"sum", infer_reduce, emit, vjp};
Value sum(Value x, Dims axes) { return reduce(kSum, x, std::move(axes), 0.0); }

}  // namespace hone
