// to, with updates[i] added to row rows[i]; rows may repeat, rows out of range are dropped.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Type &to = n.operand(0), &rows = n.operand(1), &updates = n.operand(2);
  Type want = to;
  if (to.rank() > 0 && rows.rank() == 1) want.dims[0] = rows.dims[0];
  if (to.rank() < 1 || rows.rank() != 1 || rows.dtype != DType::kS32 || updates != want)
    throw ShapeError("scatter_add: rows {} and updates {} into {}", rows.str(), updates.str(),
                     to.str());
  return to;
}

std::string emit(const Node& n, Args args) {
  Dims window;
  for (int64_t i = 1; i < n.operand(0).rank(); ++i) window.push_back(i);
  const std::string scalar = Type{n.type().dtype, {}}.str();
  return fmt::format(
      "\"stablehlo.scatter\"({0}, {1}, {2}) ({{\n"
      "    ^bb0(%scatter.a: {3}, %scatter.b: {3}):\n"
      "      %scatter.sum = stablehlo.add %scatter.a, %scatter.b : {3}\n"
      "      stablehlo.return %scatter.sum : {3}\n"
      "    }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {4}, "
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
      "indices_are_sorted = false, unique_indices = false}}{5}",
      args[0], args[1], args[2], scalar, list(window), signature(n));
}

Values vjp(const Node& n, Value, Value dy) { return {dy, {}, take(dy, n.in[1])}; }

}  // namespace

extern const Op kScatterAdd{"scatter_add", infer, emit, vjp};
Value scatter_add(Value to, Value rows, Value updates) {
  return apply(kScatterAdd, {to, rows, updates});
}

}  // namespace hone
