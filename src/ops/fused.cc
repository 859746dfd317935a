// A composition with a name: a device that has a kernel of that name calls it, any other device
// runs the composition. The gradient is the composition's.
#include "ops/body_vjp.h"
#include "ops/kernel_call.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) { return {n.body->outs.front().type()}; }

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  return emit_kernel_or_body(n, n.text("kernel"), args, e);
}

Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  return body_vjp(n, *self.graph, dy, /*held=*/0);
}

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kFused{"fused", nullptr, nullptr, nullptr, &kRules};

Value fused(std::string_view kernel, Values in, Attrs attrs,
            const std::function<Value(const Values&)>& composition) {
  Graph* g = innermost(in);
  auto body = std::make_shared<Body>();
  body->graph = std::make_unique<Graph>();  // no parent: a kernel sees its operands only
  Values parameters;
  for (const Value& v : in) parameters.push_back(body->graph->parameter("", v.type()));
  body->outs = {composition(parameters)};
  attrs["kernel"] = std::string(kernel);
  return apply_structured(kFused, *g, std::move(in), std::move(attrs), std::move(body));
}

}  // namespace hone
