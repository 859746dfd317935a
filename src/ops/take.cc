// Rows of a table: the embedding look-up.   d table[r] = sum of dy where rows = r
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type infer(const Node& n) {
  const Type &table = n.operand(0), &rows = n.operand(1);
  if (table.rank() < 1 || rows.dtype != DType::kS32)
    throw ShapeError("take: rows {} of {}; want i32 rows", rows.str(), table.str());
  Type t{table.dtype, rows.dims};
  t.dims.insert(t.dims.end(), table.dims.begin() + 1, table.dims.end());
  return t;
}

std::string emit(const Node& n, Args args) {
  const int64_t rank = n.operand(1).rank();
  Dims offset, sizes = n.operand(0).dims;
  sizes[0] = 1;
  for (int64_t i = 0; i < n.operand(0).rank() - 1; ++i) offset.push_back(rank + i);
  const std::string size_list = list(sizes);
  return fmt::format(
      "\"stablehlo.gather\"({}, {}) {{dimension_numbers = #stablehlo.gather<offset_dims = {}, "
      "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = {}>, slice_sizes = "
      "array<i64: {}>, indices_are_sorted = false}}{}",
      args[0], args[1], list(offset), rank, size_list.substr(1, size_list.size() - 2),
      signature(n));
}

Values vjp(const Node& n, Value, Value dy) {
  const Value rows = reshape(n.in[1], {n.operand(1).size()});
  Dims flat = n.operand(0).dims;
  flat[0] = rows.dim(0);
  return {scatter_add(constant(*dy.graph, n.operand(0), 0.0), rows, reshape(dy, flat)), {}};
}

}  // namespace

extern const Op kTake{"take", infer, emit, vjp};
Value take(Value table, Value rows) { return apply(kTake, {table, rows}); }

}  // namespace hone
