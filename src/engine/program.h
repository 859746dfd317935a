// A Program is a compiled graph whose arguments go by their parameters' names.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/device.h"
#include "ir/graph.h"

namespace hone::engine {

class Program {
 public:
  // Output `second` may take the memory of parameter `first`, if the caller gives it away.
  using Donated = std::vector<std::pair<Value, int>>;
  // The argument of a parameter; every name must be answered.
  using Binding = std::function<pjrt::Arg(const std::string& name)>;

  // Compiles, or loads from the cache. Every parameter of the graph has its own name.
  Program(const Device& device, const Graph& graph, std::span<const Value> outs,
          const Donated& donated = {});

  std::vector<pjrt::Buffer> run(const Binding& argument) const;

  const pjrt::Executable& executable() const { return compiled_.executable; }
  double compile_seconds() const { return compiled_.seconds; }

 private:
  std::vector<std::string> names_;
  pjrt::Compiled compiled_;
};

}  // namespace hone::engine
