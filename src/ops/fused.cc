// A composition with a name: a device that has a kernel of that name calls it, any other device
// runs the composition. The gradient is the composition's.
#include <fmt/ranges.h>

#include "ir/emit.h"
#include "ir/text.h"
#include "ops/body_vjp.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) { return {n.body->outs.front().type()}; }

std::string backend_config(const Node& n) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : n.attrs) {
    if (key == "kernel") continue;
    if (const auto* real = std::get_if<double>(&value))
      entries.push_back(fmt::format("{} = {} : f32", key, number(DType::kF32, *real)));
    if (const auto* integer = std::get_if<int64_t>(&value))
      entries.push_back(fmt::format("{} = {} : i64", key, *integer));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  if (!e.has_kernel(n.text("kernel"))) return e.statements(*n.body->graph, args, n.body->outs);
  return {e.statement(
      fmt::format("stablehlo.custom_call @{}({}) {{api_version = 4 : i32, backend_config = {}}}{}",
                  n.text("kernel"), fmt::join(args, ", "), backend_config(n), signature(n)))};
}

Values vjp(const Node& n, Value self, std::span<const Value> dy) {
  return body_vjp(n, *self.graph, dy[0], /*held=*/0);
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
