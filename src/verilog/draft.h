// A task while its kind writes it: names are drawn once, and text refers to them by role.
//
// In phrases and code "<role>" stands for a drawn name or a value that was set:
//   Draft d(random, {"comparator", "cmp"});
//   d.input("a", {"a", "x"}, 8);
//   d.output("y", {"y", "out"});
//   d.say({"<y> is 1 when <a> is odd.", "Drive <y> with the lowest bit of <a>."});
//   d.code("  assign <y> = <a>[0];\n");
//   return d.task("odd", {.outputs = [](const Bits& in, uint64_t) { return Bits{in[0] & 1}; }});
// Ports stand in the header in the order of their declaration, inputs before outputs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "verilog/bench.h"
#include "verilog/task.h"

namespace hone::verilog {

using Names = std::vector<std::string>;

class Draft {
 public:
  // The module is called one of `modules`, some with a suffix.
  Draft(Random& random, const Names& modules);

  // One of `names` that no port has yet. `high` as in Port.
  void input(const std::string& role, const Names& names, int64_t width = 1, double high = 0.5);
  void output(const std::string& role, const Names& names, int64_t width = 1);
  void output_reg(const std::string& role, const Names& names, int64_t width = 1);
  // Two inputs that belong together: roles "a" and "b".
  void operands(int64_t width);
  // The clock (role "clk") and, unless kNone, the reset (role "rst").
  void clocked(ResetStyle style);
  // As clocked(), the style drawn from the four with a reset.
  void clocked();

  void set(const std::string& role, const std::string& value);
  void set(const std::string& role, int64_t value);

  // Adds one of the phrasings to the prompt.
  void say(const Names& phrasings);
  // Says what the reset does: `effect` is what becomes of the state, e.g. "<q> becomes 0".
  void say_reset(const std::string& effect);
  void code(const std::string& text);
  // The always block: `reset` and `update` are statements, e.g. "<q> <= 0;" and "<q> <= <d>;".
  void process(const std::string& reset, const std::string& update);

  // Writes the test bench, which draws its vectors from the same generator.
  Task task(const std::string& kind, const Model& model, const Plan& plan = {});

 private:
  struct Declared {
    std::string text;  // "input [7:0] a"
    bool output;
    Port port;
  };

  std::string fill(std::string_view text) const;
  std::string name(const std::string& role, const Names& names);
  void declare(std::string_view direction, const std::string& port, int64_t width, double high);
  std::string interface_sentence();

  Random& random_;
  Interface face_;
  std::vector<Declared> ports_;
  std::map<std::string, std::string> roles_;
  std::string prompt_, code_;
};

}  // namespace hone::verilog
