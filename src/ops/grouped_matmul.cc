// The product of rows, sorted by group, with their own group's matrix:
//   y[r, n] = sum_k x[r, k] w[group of r, n, k]            (transposed: over n, y[r, k])
//   d x[r]  = the product of dy with the same matrices, the other way round
//   d w     = grouped_outer(dy, x)
//
// The composition is a loop over blocks of rows (grouped_blocks.h) that reads the matrix of each
// block's group: no matrix of a group without rows is read, and none is computed with. It works
// wherever StableHLO does. The kernel hone_grouped_matmul is the CPU's.
#include "ops/grouped_blocks.h"
#include "ops/kernel_call.h"
#include "ops/ops.h"

namespace hone {
namespace {

constexpr std::string_view kKernel = "hone_grouped_matmul";

std::vector<Type> infer(const Node& n) { return {n.body->outs.front().type()}; }

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  const DType x = n.operand(0).dtype, w = n.operand(1).dtype;
  const bool fits = x == DType::kF32 && (w == DType::kF32 || w == DType::kBF16 || w == DType::kF16);
  return emit_kernel_or_body(n, fits ? kKernel : "", args, e);
}

Value product(Value x, Value w, Value sizes, bool transposed) {
  const int64_t rows = x.dim(0), n = w.dim(1), k = w.dim(2), out = transposed ? k : n;
  const GroupedBlocks blocks = grouped_blocks(sizes, rows);
  // The last block may reach past the last row; those that are not needed write there too.
  const Value padded = pad(x, {0, 0}, {blocks.rows, 0});
  const Value start = constant(*x.graph, {x.dtype(), {rows + blocks.rows, out}}, 0);
  const ScanResult done = scan(
      *x.graph, blocks.count, {start}, {blocks.group, blocks.start, blocks.end},
      [&](const Values& carry, const Values& block) -> ScanStep {
        const Value zero = zeros_like(block[0]);
        const Value mine = dynamic_slice(padded, {block[1], zero}, {blocks.rows, x.dim(1)});
        const Value matrix = reshape(dynamic_slice(w, {block[0], zero, zero}, {1, n, k}), {n, k});
        const Value y =
            einsum(transposed ? "rn,nk->rk" : "rk,nk->rn", mine, convert(matrix, x.dtype()));
        const Value row =
            broadcast(block[1], y.dims(), {}) + iota(*y.graph, y.dims(), 0, DType::kS32);
        const Value own = compare(row, Compare::kLt, broadcast(block[2], y.dims(), {}));
        return {{dynamic_update_slice(carry[0], select(own, y, zeros_like(y)), {block[1], zero})},
                {}};
      });
  return slice(done.carry[0], 0, 0, rows);
}

Values vjp(const Node& n, Value, std::span<const Value> dy) {
  const Value x = n.in[0], w = n.in[1], sizes = n.in[2];
  const bool transposed = n.integer("transposed") != 0;
  const Value dw = transposed ? grouped_outer(x, dy[0], sizes) : grouped_outer(dy[0], x, sizes);
  return {grouped_matmul(dy[0], w, sizes, !transposed), convert(dw, w.dtype()), {}};
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kGroupedMatmul{"grouped_matmul", nullptr, nullptr, nullptr, &kRules};

Value grouped_matmul(Value x, Value w, Value sizes, bool transposed) {
  const bool fits = x.rank() == 2 && w.rank() == 3 && x.dim(1) == w.dim(transposed ? 1 : 2) &&
                    sizes.type() == Type{DType::kS32, {w.dim(0)}};
  if (!fits)
    throw ShapeError("grouped_matmul{}: rows {}, matrices {}, sizes {}",
                     transposed ? " (transposed)" : "", x.type().str(), w.type().str(),
                     sizes.type().str());
  auto body = std::make_shared<Body>();
  body->graph = std::make_unique<Graph>();
  Values in{x, w, sizes}, inside;
  for (const Value& v : in) inside.push_back(body->graph->parameter("", v.type()));
  body->outs = {product(inside[0], inside[1], inside[2], transposed)};
  Graph* g = innermost(in);
  return apply_structured(kGroupedMatmul, *g, in, {{"transposed", int64_t{transposed}}}, body);
}

}  // namespace hone
