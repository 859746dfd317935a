// A part of the graph whose inside is not kept for the backward pass but computed again.
//
// The second computation goes through an optimization barrier together with the cotangent, so that
// the compiler can neither merge it with the first nor start it before the backward pass needs it.
#include "ir/emit.h"
#include "ops/body_vjp.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) {
  std::vector<Type> types;
  for (const Value& v : n.body->outs) types.push_back(v.type());
  return types;
}

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  return e.statements(*n.body->graph, args, n.body->outs);
}

Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  return body_vjp(n, *self.graph, dy, static_cast<size_t>(n.integer("inputs")));
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kCheckpoint{"checkpoint", nullptr, nullptr, nullptr, &kRules};

Values checkpoint(Values in, const std::function<Values(const Values&)>& part) {
  Graph* g = innermost(in);
  auto body = std::make_shared<Body>();
  body->graph = std::make_unique<Graph>(g);
  Values parameters;
  for (const Value& v : in) parameters.push_back(body->graph->parameter("", v.type()));
  Values results = part(parameters);
  for (const Value& v : results)
    if (v.graph == body->graph.get()) body->outs.push_back(v);
  const auto inputs = static_cast<int64_t>(in.size());
  for (const Value& v : body->graph->captured()) in.push_back(v);
  const Graph* inside = body->graph.get();
  Value made = apply_structured(kCheckpoint, *g, std::move(in), {{"inputs", inputs}}, body);
  for (Value& v : results) {
    if (v.graph != inside) continue;
    v = made;
    ++made.result;
  }
  return results;
}

Value checkpoint(Values in, const std::function<Value(const Values&)>& part) {
  return checkpoint(std::move(in), [&](const Values& v) { return Values{part(v)}; }).front();
}

}  // namespace hone
