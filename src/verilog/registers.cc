// Registers and what is a register with a little logic in front.
#include <fmt/format.h>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kOutputs{"q", "out", "dout"};
const Names kInputs{"d", "din", "data"};
const Names kEnables{"en", "enable", "ce"};

Task plain_register(Random& random) {
  Draft d(random, {"dff", "register", "d_reg", "store", "flop"});
  const int64_t width = random.between(1, 16);
  const bool enable = random.below(2) == 0;
  const int64_t init = random.below(2) == 0 ? 0 : random.below(int64_t{1} << width);
  d.clocked();
  if (enable) d.input("en", {"en", "we", "load"});
  d.input("d", kInputs, width);
  d.output_reg("q", kOutputs, width);
  d.set("init", init);
  if (enable)
    d.say({"On a rising edge of <clk>, <q> takes <d> if <en> is 1, else it holds.",
           "<q> stores <d> at the rising edge of <clk> while <en> is high."});
  else
    d.say({"<q> takes the value of <d> on every rising edge of <clk>.",
           "<q> stores <d> at each rising edge of <clk>."});
  d.say_reset("<q> becomes <init>");
  d.process("<q> <= <init>;", enable ? "if (<en>) <q> <= <d>;" : "<q> <= <d>;");
  const auto next = [=](const Bits& in, uint64_t q) {
    return enable ? (in[0] == 1 ? in[1] : q) : in[0];
  };
  return d.task("register", counted(next, static_cast<uint64_t>(init)));
}

Task accumulator(Random& random) {
  Draft d(random, {"accumulator", "acc", "running_sum", "summer", "integrate"});
  const int64_t width = random.between(4, 16), in_width = random.between(2, width);
  const bool enable = random.below(2) == 0;
  d.clocked();
  if (enable) d.input("en", kEnables);
  d.input("d", kInputs, in_width);
  d.output_reg("q", {"acc_out", "sum", "total", "q"}, width);
  if (enable)
    d.say({"On each rising edge of <clk>, <d> is added to <q> if <en> is 1.",
           "While <en> is high, <q> increases by <d> at each rising edge of <clk>."});
  else
    d.say({"On each rising edge of <clk>, <d> is added to <q>.",
           "<q> increases by <d> at each rising edge of <clk>."});
  d.say({"Carries are dropped.", "It wraps around."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", enable ? "if (<en>) <q> <= <q> + <d>;" : "<q> <= <q> + <d>;");
  const auto next = [=](const Bits& in, uint64_t q) {
    if (enable && in[0] == 0) return q;
    return (q + in.back()) % (uint64_t{1} << width);
  };
  return d.task("accumulator", counted(next, 0));
}

Task delay(Random& random) {
  Draft d(random, {"delay", "delay_line", "pipe", "latency", "stages"});
  const int64_t width = random.between(1, 16), stages = random.between(2, 3);
  d.clocked(ResetStyle::kNone);
  d.input("d", kInputs, width);
  d.output_reg("q", kOutputs, width);
  d.set("stages", stages == 2 ? "two" : "three");
  d.say({"<q> is <d> delayed by <stages> rising edges of <clk>.",
         "<d> passes through <stages> registers clocked by <clk>, the last of which is <q>."});
  d.set("range", width == 1 ? "" : fmt::format("[{}:0] ", width - 1));
  if (stages == 2)
    d.code(
        "  reg <range>s1;\n  always @(posedge <clk>) begin\n    s1 <= <d>;\n    <q> <= s1;\n"
        "  end\n");
  else
    d.code(
        "  reg <range>s1, s2;\n  always @(posedge <clk>) begin\n    s1 <= <d>;\n"
        "    s2 <= s1;\n    <q> <= s2;\n  end\n");
  // The stages side by side in the state, the newest lowest.
  const auto next = [=](const Bits& in, uint64_t state) {
    return (state << width | in[0]) & mask(width * stages);
  };
  const auto outputs = [=](const Bits&, uint64_t state) {
    return Bits{state >> (width * (stages - 1))};
  };
  return d.task("delay", {.outputs = outputs, .next = next}, {.unchecked = stages});
}

Task set_clear(Random& random) {
  Draft d(random, {"flag", "sr_flag", "set_clear", "status_bit", "latch_bit"});
  const bool set_wins = random.below(2) == 0;
  d.clocked();
  d.input("set", {"set", "s", "start"});
  d.input("clear", {"clr", "clear", "stop"});
  d.output_reg("q", {"q", "flag_q", "busy", "active"});
  d.set("winner", set_wins ? "<set>" : "<clear>");
  d.say({"On a rising edge of <clk>, <q> becomes 1 if <set> is 1 and 0 if <clear> is 1.",
         "At each rising edge of <clk>, <set> sets <q> to 1 and <clear> sets <q> to 0."});
  d.say({"If both are 1, <winner> wins. Otherwise <q> holds.",
         "<winner> has priority. If neither is 1, <q> holds."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", set_wins ? "if (<set>) <q> <= 1;\n    else if (<clear>) <q> <= 0;"
                                  : "if (<clear>) <q> <= 0;\n    else if (<set>) <q> <= 1;");
  const auto next = [=](const Bits& in, uint64_t q) {
    if (in[0] == in[1]) return in[0] == 0 ? q : uint64_t{set_wins};
    return in[0];
  };
  return d.task("set_clear", counted(next, 0));
}

Task toggle(Random& random) {
  Draft d(random, {"toggle", "t_ff", "tff", "flip", "toggle_bit"});
  const int64_t width = random.between(1, 8);
  d.clocked();
  d.input("t", {"t", "tog", "flip_en"}, width);
  d.output_reg("q", kOutputs, width);
  if (width == 1)
    d.say({"<q> toggles on each rising edge of <clk> while <t> is 1, else it holds.",
           "At a rising edge of <clk>, <q> is inverted if <t> is 1."});
  else
    d.say({"On each rising edge of <clk>, every bit of <q> toggles where <t> is 1.",
           "At a rising edge of <clk>, the bits of <q> whose bit in <t> is 1 are inverted."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", "<q> <= <q> ^ <t>;");
  const auto next = [](const Bits& in, uint64_t q) { return (q & ~in[0]) | (~q & in[0]); };
  return d.task("toggle", counted(next, 0));
}

}  // namespace

const Kind kRegister{"register", plain_register};
const Kind kAccumulator{"accumulator", accumulator};
const Kind kDelay{"delay", delay};
const Kind kSetClear{"set_clear", set_clear};
const Kind kToggle{"toggle", toggle};

}  // namespace hone::verilog
