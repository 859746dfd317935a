// 0, 1, 2 ... along one axis.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::string emit(const Node& n, Args) {
  return fmt::format("stablehlo.iota dim = {} : {}", n.integer("axis"), n.type().str());
}

}  // namespace

extern const Op kIota{"iota", nullptr, emit};
Value iota(Graph& g, Dims dims, int64_t axis, DType t) {
  Type type{t, std::move(dims)};
  axis = axis_of("iota", type, axis);
  return g.add({.op = &kIota,
                .in = {},
                .attrs = {{"axis", axis}},
                .results = {std::move(type)},
                .label = {},
                .body = {}});
}

}  // namespace hone
