#include "engine/program.h"

#include <algorithm>

namespace hone::engine {
namespace {

pjrt::Compiled compile(const Device& device, const Graph& graph, std::span<const Value> outs,
                       const Program::Donated& donated) {
  EmitOptions options{.kernels = device.kernels(), .donated = {}};
  const Values& parameters = graph.parameters();
  for (const auto& [parameter, output] : donated) {
    const auto at = std::ranges::find(parameters, parameter) - parameters.begin();
    options.donated.emplace_back(static_cast<int>(at), output);
  }
  return device.cache().compile(device.client(), emit(graph, outs, options));
}

}  // namespace

Program::Program(const Device& device, const Graph& graph, std::span<const Value> outs,
                 const Donated& donated)
    : compiled_(compile(device, graph, outs, donated)) {
  for (const Value& p : graph.parameters()) names_.push_back(graph[p].label);
}

std::vector<pjrt::Buffer> Program::run(const Binding& argument) const {
  std::vector<pjrt::Arg> args;
  args.reserve(names_.size());
  for (const std::string& name : names_) args.push_back(argument(name));
  return compiled_.executable.execute(args);
}

}  // namespace hone::engine
