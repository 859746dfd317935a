// The k largest elements of the last axis, largest first, and where they are. Of equal elements the
// first comes first; a NaN is larger than any number.
//   d x[.., at[j]] = dy[.., j]
//
// A sort of which the first k columns stay: XLA makes it a top-k of its own where it has one.
#include <fmt/format.h>

#include "ir/emit.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

Type cut(Type t, int64_t k) {
  t.dims.back() = k;
  return t;
}

std::vector<Type> infer(const Node& n) {
  const Type x = n.operand(0);
  const int64_t k = n.integer("k");
  if (x.rank() < 1 || k < 1 || k > x.dims.back())
    throw ShapeError("top_k: {} of the last axis of {}", k, x.str());
  return {cut(x, k), cut({DType::kS32, x.dims}, k)};
}

std::string comparison(DType t) {
  if (is_float(t)) return "TOTALORDER";
  const bool is_signed = t == DType::kS8 || t == DType::kS32 || t == DType::kS64;
  return is_signed ? "SIGNED" : "UNSIGNED";
}

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>& used, Emitter& e) {
  const Type &x = n.operand(0), at{DType::kS32, x.dims};
  const std::string xs = Type{x.dtype, {}}.str();
  const std::string places =
      e.statement(fmt::format("stablehlo.iota dim = {} : {}", x.rank() - 1, at.str()));
  const std::string sorted = e.fresh();
  e.line(fmt::format(
      "    {0}:2 = \"stablehlo.sort\"({1}, {2}) ({{\n"
      "    ^bb0(%sort.a: {3}, %sort.b: {3}, %sort.i: tensor<i32>, %sort.j: "
      "tensor<i32>):\n"
      "      %sort.more = stablehlo.compare GT, %sort.a, %sort.b, {4} : ({3}, {3}) -> "
      "tensor<i1>\n"
      "      stablehlo.return %sort.more : tensor<i1>\n"
      "    }}) {{dimension = {5} : i64, is_stable = true}} : ({6}, {7}) -> ({6}, {7})",
      sorted, args[0], places, xs, comparison(x.dtype), x.rank() - 1, x.str(), at.str()));
  std::string ranges;
  for (int64_t i = 0; i + 1 < x.rank(); ++i)
    ranges += fmt::format("0:{}, ", x.dims[static_cast<size_t>(i)]);
  ranges += fmt::format("0:{}", n.integer("k"));
  std::vector<std::string> names(2);
  for (size_t i = 0; i < 2; ++i)
    if (used[i])
      names[i] = e.statement(fmt::format("stablehlo.slice {}#{} [{}] : ({}) -> {}", sorted, i,
                                         ranges, i == 0 ? x.str() : at.str(), n.results[i].str()));
  return names;
}

Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  if (!dy[0]) return {Value{}};
  Graph& g = *self.graph;
  const Type& x = n.operand(0);
  const int64_t k = n.integer("k"), columns = x.dims.back(), rows = x.size() / columns;
  const Value at = reshape(Value{&g, self.id, 1}, {rows, k});
  const Value first = iota(g, at.dims(), 0, DType::kS32) * constant_like(at, columns);
  const Value zeros = constant(g, {x.dtype, {rows * columns}}, 0);
  return {reshape(scatter_add(zeros, reshape(first + at, {rows * k}), reshape(dy[0], {rows * k})),
                  x.dims)};
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kTopK{"top_k", nullptr, nullptr, nullptr, &kRules};

TopK top_k(Value x, int64_t k) {
  const Value y = apply_structured(kTopK, *x.graph, {x}, {{"k", k}}, nullptr);
  return {y, {y.graph, y.id, 1}};
}

Value arg_sort(Value x) {
  return top_k(-x, x.dim(-1)).at;  // of equal elements the first stays first
}

}  // namespace hone
