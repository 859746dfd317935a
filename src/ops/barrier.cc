// Its operands, all of which are there before any of them is used. The gradient passes.
#include <fmt/ranges.h>

#include "ir/emit.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

std::vector<Type> infer(const Node& n) {
  std::vector<Type> types;
  for (const Value& v : n.in) types.push_back(v.type());
  return types;
}

std::vector<std::string> emit(const Node& n, Args args, const std::vector<bool>&, Emitter& e) {
  std::vector<std::string> types, names;
  for (const Value& v : n.in) types.push_back(v.type().str());
  const std::string name = e.fresh();
  e.line(fmt::format("    {}:{} = stablehlo.optimization_barrier {} : {}", name, args.size(),
                     fmt::join(args, ", "), fmt::join(types, ", ")));
  for (size_t i = 0; i < args.size(); ++i) names.push_back(fmt::format("{}#{}", name, i));
  return names;
}

Values vjp(const Node&, Value, std::span<const Value> dy) { return {dy.begin(), dy.end()}; }

const Structured kRules{infer, emit, vjp};

}  // namespace

extern const Op kBarrier{"barrier", nullptr, nullptr, nullptr, &kRules};

Values barrier(const Values& in) {
  const Value first = apply_structured(kBarrier, *in.front().graph, in, {}, nullptr);
  Values out;
  for (size_t i = 0; i < in.size(); ++i)
    out.push_back({first.graph, first.id, static_cast<int>(i)});
  return out;
}

}  // namespace hone
