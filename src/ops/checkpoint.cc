// A part of the graph whose inside is not kept for the backward pass but computed again.
//
// The second computation goes through an optimization barrier together with the cotangent, so that
// the compiler can neither merge it with the first nor start it before the backward pass needs it.
#include "ir/emit.h"
#include "ops/body_vjp.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) { return {n.body->outs.front().type()}; }

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  return e.statements(*n.body->graph, args, n.body->outs);
}

Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  return body_vjp(n, *self.graph, dy[0], static_cast<size_t>(n.integer("inputs")));
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kCheckpoint{"checkpoint", nullptr, nullptr, nullptr, &kRules};

Value checkpoint(Values in, const std::function<Value(const Values&)>& part) {
  Graph* g = innermost(in);
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
