// Result axis i is operand axis perm[i].
#include <algorithm>

#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Dims& perm = n.list("perm");
  Dims seen = perm;
  std::sort(seen.begin(), seen.end());
  Type t{n.operand(0).dtype, {}};
  for (size_t i = 0; i < perm.size(); ++i) {
    if (seen.size() != n.operand(0).dims.size() || seen[i] != static_cast<int64_t>(i))
      throw ShapeError("transpose: {} is no permutation of the axes of {}", list(perm),
                       n.operand(0).str());
    t.dims.push_back(n.operand(0).dims[static_cast<size_t>(perm[i])]);
  }
  return t;
}

std::string emit(const Node& n, Args args) {
  return fmt::format("stablehlo.transpose {}, dims = {}{}", args[0], list(n.list("perm")),
                     signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const Dims& perm = n.list("perm");
  Dims inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return {transpose(dy, inverse)};
}

}  // namespace

extern const Op kTranspose{"transpose", infer, emit, vjp};
Value transpose(Value x, Dims perm) { return apply(kTranspose, {x}, {{"perm", std::move(perm)}}); }

}  // namespace hone
