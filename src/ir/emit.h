// The textual StableHLO module of a graph. The same graph gives the same bytes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>

#include "ir/graph.h"

namespace hone {

struct EmitOptions {
  // Kernels that the device has: a fused op of that name becomes a custom call, any other its
  // composition.
  std::set<std::string, std::less<>> kernels = {};
  // (parameter, output): the output may reuse the parameter's memory, which is then gone.
  std::vector<std::pair<int, int>> donated = {};
};

// Computes `outs` from the graph's parameters, all of them, used or not, in their order.
// Nodes that no output needs are left out.
std::string emit(const Graph& g, std::span<const Value> outs, const EmitOptions& options = {});

// Writes the statements of one graph and of the bodies inside it; ops with a body get it.
class Emitter {
 public:
  explicit Emitter(const EmitOptions& options) : options_(options) {}

  // Emits what `outs` need, with the graph's parameters called `names`; returns outs' names.
  std::vector<std::string> statements(const Graph& g, std::span<const std::string> names,
                                      std::span<const Value> outs);
  // A statement of an op's own making: "%7 = RHS"; returns "%7".
  std::string statement(const std::string& right_hand_side);
  std::string fresh() { return fmt::format("%{}", next_++); }
  bool has_kernel(std::string_view kernel) const { return options_.kernels.contains(kernel); }
  // Everything emitted inside `write` as text, for the region of an op.
  template <class Write>
  std::string region(Write write) {
    std::string outer = std::exchange(text_, {});
    write();
    return std::exchange(text_, std::move(outer));
  }
  void line(const std::string& s) { text_ += s + "\n"; }
  const std::string& text() const { return text_; }

 private:
  const EmitOptions& options_;
  std::string text_;
  int next_ = 0;
};

}  // namespace hone
