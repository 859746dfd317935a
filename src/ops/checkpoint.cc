// A part of the graph whose inside is not kept for the backward pass but computed again.
//
// The second computation goes through an optimization barrier together with the cotangent, so that
// the compiler can neither merge it with the first nor start it before the backward pass needs it.
#include <fmt/ranges.h>

#include "ir/clone.h"
#include "ir/emit.h"
#include "ir/grad.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) { return {n.body->outs.front().type()}; }

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  return e.statements(*n.body->graph, args, n.body->outs);
}

// The backward part in a body of its own, as in fused.cc.
Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  Graph& g = *self.graph;
  const size_t inputs = static_cast<size_t>(n.integer("inputs"));
  Body back{std::make_unique<Graph>(), {}};
  Values operands;
  for (const Value& v : n.in) operands.push_back(back.graph->parameter("", v.type()));
  const Value d = back.graph->parameter("", dy[0].type());

  Values held(operands.begin(), operands.begin() + static_cast<long>(inputs));
  held.push_back(d);
  const Values released = barrier(held);
  Values again(released.begin(), released.end() - 1);
  again.insert(again.end(), operands.begin() + static_cast<long>(inputs), operands.end());
  const Values ys = inline_body(*n.body, again, *back.graph);
  const Values found = pullback(ys, {{released.back()}}, again);
  for (const Value& v : found)
    if (v) back.outs.push_back(v);

  Values args = n.in;
  args.push_back(dy[0]);
  const Values inlined = inline_body(back, args, g);
  Values result;
  size_t next = 0;
  for (const Value& v : found) result.push_back(v ? inlined[next++] : Value{});
  return result;
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kCheckpoint{"checkpoint", nullptr, nullptr, nullptr, &kRules};

Value checkpoint(Values in, const std::function<Value(const Values&)>& part) {
  Graph* g = in.front().graph;
  for (const Value& v : in)
    if (v.graph->inside(g)) g = v.graph;
  auto body = std::make_shared<Body>();
  body->graph = std::make_unique<Graph>(g);
  Values parameters;
  for (const Value& v : in) parameters.push_back(body->graph->parameter("", v.type()));
  body->outs = {body->graph->capture(part(parameters))};
  const auto inputs = static_cast<int64_t>(in.size());
  for (const Value& v : body->graph->captured()) in.push_back(v);
  return apply_structured(kCheckpoint, *g, std::move(in), {{"inputs", inputs}}, std::move(body));
}

}  // namespace hone
