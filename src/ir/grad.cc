#include "ir/grad.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ir/builtin.h"

namespace hone {
namespace {

// Nodes up to `last` whose value depends on one of `wrt`, which may be of an enclosing graph.
std::vector<bool> depends_on(Graph& g, std::span<const Value> wrt, int last) {
  std::vector<bool> on(static_cast<size_t>(g.size()), false);
  for (const Value& w : wrt)
    if (w.graph == &g) on[static_cast<size_t>(w.id)] = true;
  std::map<Graph*, std::vector<bool>> outside;
  for (const Value& v : g.captured()) {
    auto [it, is_new] = outside.try_emplace(v.graph);
    if (is_new) it->second = depends_on(*v.graph, wrt, v.graph->size() - 1);
    if (it->second[static_cast<size_t>(v.id)]) on[static_cast<size_t>(g.capture(v).id)] = true;
  }
  for (int id = 0; id <= last; ++id)
    for (const Value& v : g.node(id).in)
      if (on[static_cast<size_t>(v.id)]) on[static_cast<size_t>(id)] = true;
  return on;
}

// The rules are distrusted: a wrong count or type stops here, naming op and operand.
void check_rule(const Node& n, const Values& d) {
  check(d.size() == n.in.size(), "{}.vjp: {} cotangents for {} operands", n.op->name, d.size(),
        n.in.size());
  for (size_t i = 0; i < d.size(); ++i)
    check(!d[i] || d[i].type() == n.operand(i), "{}.vjp: operand {} is {} but its cotangent is {}",
          n.op->name, i, n.operand(i).str(), d[i] ? d[i].type().str() : "");
}

Values call_rule(const Node& n, Value self, const Values& dy) {
  if (n.op->structured != nullptr)
    return n.op->structured->vjp != nullptr ? n.op->structured->vjp(n, self, dy) : Values{};
  return n.op->vjp != nullptr ? n.op->vjp(n, self, dy.front()) : Values{};
}

}  // namespace

Values pullback(std::span<const Value> ys, std::span<const Value> dys, std::span<const Value> wrt) {
  Graph& g = *ys.front().graph;
  int last = 0;
  for (const Value& y : ys) last = std::max(last, y.id);
  const std::vector<bool> wanted = depends_on(g, wrt, last);
  std::vector<Values> cotangent(static_cast<size_t>(last) + 1);
  auto accumulate = [&](Value at, Value d) {
    if (!d || at.id > last || !wanted[static_cast<size_t>(at.id)]) return;
    Values& of = cotangent[static_cast<size_t>(at.id)];
    of.resize(g[at].results.size());
    Value& slot = of[static_cast<size_t>(at.result)];
    slot = slot ? slot + d : d;
  };

  for (size_t i = 0; i < ys.size(); ++i) accumulate(ys[i], dys[i]);
  for (int id = last; id >= 0; --id) {
    const Values dy = cotangent[static_cast<size_t>(id)];
    if (dy.empty()) continue;
    const Node n = g.node(id);  // by value: the rule appends to g
    const Values d = call_rule(n, {&g, id}, dy);
    if (d.empty()) continue;  // no gradient passes through this op
    check_rule(n, d);
    for (size_t i = 0; i < d.size(); ++i) accumulate(n.in[i], d[i]);
  }

  auto found = [&](Value at) {
    const bool reached = at.id <= last && !cotangent[static_cast<size_t>(at.id)].empty();
    return reached ? cotangent[static_cast<size_t>(at.id)][static_cast<size_t>(at.result)]
                   : Value{};
  };
  Values out;
  for (const Value& w : wrt) out.push_back(w.graph == &g ? found(w) : Value{});
  // What a body captures may be made, outside of it, from what is asked for.
  struct Seeds {
    Values ys, dys;  // of one graph
  };
  std::vector<Seeds> outside;  // in the order of the captures, so that emission is the same
  for (const Value& v : Values(g.captured())) {
    const Value d = found(g.capture(v));
    if (!d) continue;
    auto it = std::ranges::find(outside, v.graph, [](const Seeds& s) { return s.ys[0].graph; });
    if (it == outside.end()) it = outside.emplace(outside.end());
    it->ys.push_back(v);
    it->dys.push_back(d);
  }
  for (const Seeds& seeds : outside) {
    const Values more = pullback(seeds.ys, seeds.dys, wrt);
    for (size_t i = 0; i < out.size(); ++i)
      if (more[i]) out[i] = out[i] ? out[i] + more[i] : more[i];
  }
  return out;
}

Values grad(Value y, std::span<const Value> wrt) {
  if (y.rank() != 0 || !is_float(y.dtype()))
    throw ShapeError("grad: want a float scalar, got {}", y.type().str());
  const Value one = constant_like(y, 1.0);
  Values out = pullback({{y}}, {{one}}, wrt);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i]) out[i] = zeros_like(y.graph->capture(wrt[i]));
  return out;
}

}  // namespace hone
