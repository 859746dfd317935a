// What a grouped product asks of its matrices: of rows sorted by group,
//   z[g, n, k] = sum over the rows r of group g of a[r, n] b[r, k]
//   d a[r] = sum_k dz[group of r, n, k] b[r, k]      d b[r] = sum_n a[r, n] dz[group of r, n, k]
//
// A loop over blocks of rows (grouped_blocks.h), summed in f32 at least; on a CPU the kernel
// hone_grouped_outer.
#include "ops/grouped_blocks.h"
#include "ops/kernel_call.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) { return {n.body->outs.front().type()}; }

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  const bool fits = n.operand(0).dtype == DType::kF32;
  return emit_kernel_or_body(n, fits ? "hone_grouped_outer" : "", args, e);
}

Value product(Value a, Value b, Value sizes) {
  const int64_t rows = a.dim(0), n = a.dim(1), k = b.dim(1), groups = sizes.dim(0);
  const DType sums = a.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const GroupedBlocks blocks = grouped_blocks(sizes, rows);
  const Value padded_a = pad(a, {0, 0}, {blocks.rows, 0});
  const Value padded_b = pad(b, {0, 0}, {blocks.rows, 0});
  const Value start = constant(*a.graph, {sums, {groups, n, k}}, 0);
  const ScanResult done =
      scan(*a.graph, blocks.count, {start}, {blocks.group, blocks.start, blocks.end},
           [&](const Values& carry, const Values& block) -> ScanStep {
             const Value zero = zeros_like(block[0]);
             const Value left = dynamic_slice(padded_a, {block[1], zero}, {blocks.rows, n});
             const Value right = dynamic_slice(padded_b, {block[1], zero}, {blocks.rows, k});
             const Value row = broadcast(block[1], left.dims(), {}) +
                               iota(*left.graph, left.dims(), 0, DType::kS32);
             const Value own = compare(row, Compare::kLt, broadcast(block[2], left.dims(), {}));
             const Value z = einsum("rn,rk->nk", select(own, left, zeros_like(left)), right, sums);
             const Values at{block[0], zero, zero};
             const Value sum = dynamic_slice(carry[0], at, {1, n, k}) + reshape(z, {1, n, k});
             return {{dynamic_update_slice(carry[0], sum, at)}, {}};
           });
  return convert(done.carry[0], a.dtype());
}

Values vjp(const Node& n, Value, std::span<const Value> dy) {
  const Value a = n.in[0], b = n.in[1], sizes = n.in[2];
  return {grouped_matmul(b, dy[0], sizes), grouped_matmul(a, dy[0], sizes, true), {}};
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kGroupedOuter{"grouped_outer", nullptr, nullptr, nullptr, &kRules};

Value grouped_outer(Value a, Value b, Value sizes) {
  const bool fits = a.rank() == 2 && b.rank() == 2 && a.dim(0) == b.dim(0) &&
                    a.dtype() == b.dtype() && sizes.dtype() == DType::kS32 && sizes.rank() == 1;
  if (!fits)
    throw ShapeError("grouped_outer: rows {} and {}, sizes {}", a.type().str(), b.type().str(),
                     sizes.type().str());
  auto body = std::make_shared<Body>();
  body->graph = std::make_unique<Graph>();
  Values in{a, b, sizes}, inside;
  for (const Value& v : in) inside.push_back(body->graph->parameter("", v.type()));
  body->outs = {product(inside[0], inside[1], inside[2])};
  Graph* g = innermost(in);
  return apply_structured(kGroupedOuter, *g, in, {}, body);
}

}  // namespace hone
