#include "nn/moe.h"

#include "base/check.h"
#include "ops/ops.h"

namespace hone::nn {
namespace {

// How often each of [0, n) is among `ids` i32 [r], of which only those with `counted` f32 [r]
// count: f32 [n].
Value counts(Value ids, int64_t n, Value counted) {
  const Dims table{ids.dim(0), n};
  const Value number = iota(*ids.graph, table, 1, DType::kS32);
  const Value mine = compare(number, Compare::kEq, broadcast(ids, table, {0}));
  return sum(
      select(mine, broadcast(counted, table, {0}), constant(*ids.graph, {DType::kF32, table}, 0)),
      {0});
}

// What one router adds to a Balance. `segments` is 0 at padding.
Value balance_of(Value probabilities, Value experts, Value segments) {
  Graph& g = *probabilities.graph;
  const int64_t t = probabilities.dim(0), e = probabilities.dim(1), k = experts.dim(1);
  const Value flat = reshape(segments, {t});
  const Value token = convert(compare(flat, Compare::kNe, zeros_like(flat)), DType::kF32);
  const Value tokens_of =
      counts(reshape(experts, {t * k}), e, reshape(broadcast(token, {t, k}, {0}), {t * k}));
  const Value sums = sum(probabilities * broadcast(token, {t, e}, {0}), {0});
  const Value all = broadcast(sum(token, {0}), {e}, {});
  auto row = [&](Value v) { return reshape(g.capture(v), {1, e}); };
  return concat({row(tokens_of), row(sums), row(all)}, 0);
}

}  // namespace

Routing route(Value logits, int64_t k, bool normalised, const Context& ctx) {
  const Value probabilities = softmax_last(convert(logits, DType::kF32));
  TopK top = top_k(probabilities, k);
  if (ctx.balance != nullptr)
    ctx.balance->routers.push_back(balance_of(probabilities, top.at, ctx.segments));
  if (normalised) top.values = top.values / spread_last(sum(top.values, {-1}), top.values);
  return {top.at, top.values};
}

Router::Router(Scope p, int64_t hidden, int64_t experts)
    : w_(p.weight({{"expert", experts}, {"embed", hidden}})) {}

Value Router::operator()(Value x) const {
  return einsum("td,ed->te", convert(x, DType::kF32), convert(w_, DType::kF32));
}

Experts::Experts(Scope p, int64_t hidden, int64_t ffw, int64_t experts,
                 GatedMlp::Activation activation)
    : gate_up_(p, "gate_up_proj", {"expert", experts}, {"embed", hidden}, {"mlp", 2 * ffw}),
      down_(p, "down_proj", {"expert", experts}, {"mlp", ffw}, {"embed", hidden}),
      act_(activation),
      experts_(experts),
      ffw_(ffw) {}

Value Experts::operator()(Value x, const Routing& routing) const {
  const int64_t t = x.dim(0), k = routing.experts.dim(1), rows = t * k;
  const Value expert = reshape(routing.experts, {rows});
  const Value order = arg_sort(expert);  // sorted row i is the answer for routing entry order[i]
  const Value ones = constant(*x.graph, {DType::kF32, {rows}}, 1);
  const Value sizes = convert(counts(expert, experts_, ones), DType::kS32);
  const Value token = order / constant_like(order, static_cast<double>(k));

  const Value both = gate_up_(take(x, token), sizes);
  const Value inner = act_(slice(both, 1, 0, ffw_)) * slice(both, 1, ffw_, 2 * ffw_);
  const Value sorted = down_(inner, sizes);
  const Value answers = reshape(take(sorted, arg_sort(order)), {t, k, x.dim(1)});
  return einsum("tkd,tk->td", answers, convert(routing.weights, x.dtype()));
}

Value SparseMlp::operator()(Value x, const Context& ctx) const {
  const Value tokens = reshape(x, {x.dim(0) * x.dim(1), x.dim(2)});
  const Routing routing = route(gate_(tokens), sizes_.chosen, sizes_.normalised, ctx);
  return reshape(experts_(tokens, routing), x.dims());
}

Value Balance::loss() const {
  check(!routers.empty(), "a balance of no routers");
  Value all = routers.front();
  for (size_t i = 1; i < routers.size(); ++i) all = all + routers[i];
  const int64_t e = all.dim(1);
  auto row = [&](int64_t i) { return reshape(slice(all, 0, i, i + 1), {e}); };
  const Value tokens = maximum(row(2), constant_like(row(2), 1));
  return sum(row(0) / tokens * (row(1) / tokens), {0}) * static_cast<double>(e);
}

}  // namespace hone::nn
