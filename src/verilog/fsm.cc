// Small state machines: edge detectors, sequence detectors, a cycle of given states.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

struct Edge {
  const char *change, *code;
  uint64_t (*of)(uint64_t now, uint64_t before);
};

// Three kinds of edge that read alike. The state is the input of the previous clock.
Task edge_detector(Random& random, const std::string& kind, const Names& modules,
                   const Edge& edge) {
  Draft d(random, modules);
  const int64_t width = random.between(1, 8);
  d.clocked();
  d.input("d", {"d", "sig", "a"}, width);
  d.output("y", {"y", "pulse", "out", "det"}, width);
  d.set("change", edge.change);
  d.set("range", width == 1 ? "" : fmt::format("[{}:0] ", width - 1));
  d.say({"A register prev stores <d> on each rising edge of <clk>.",
         "prev is a register that takes <d> at every rising edge of <clk>."});
  if (width == 1)
    d.say({"<y> is 1 while <change>.", "<y> is high when <change>."});
  else
    d.say({"Bit by bit, <y> is 1 where <change>.", "Each bit of <y> is high when <change>."});
  d.say_reset("prev becomes 0");
  d.code("  reg <range>prev;\n");
  d.code(std::string("  assign <y> = ") + edge.code + ";\n");
  d.process("prev <= 0;", "prev <= <d>;");
  const auto outputs = [&edge, width](const Bits& in, uint64_t prev) {
    return Bits{edge.of(in[0], prev) & mask(width)};
  };
  return d.task(kind, {.outputs = outputs, .next = [](const Bits& in, uint64_t) { return in[0]; }});
}

Task rising_edge(Random& random) {
  static const Edge kEdge{"<d> is 1 and prev is 0", "<d> & ~prev",
                          [](uint64_t now, uint64_t before) { return (now | before) ^ before; }};
  return edge_detector(random, "rising_edge", {"rise", "rising", "pos_edge", "edge_up", "rise_det"},
                       kEdge);
}

Task falling_edge(Random& random) {
  static const Edge kEdge{"<d> is 0 and prev is 1", "~<d> & prev",
                          [](uint64_t now, uint64_t before) { return (now | before) ^ now; }};
  return edge_detector(random, "falling_edge",
                       {"fall", "falling", "neg_edge", "edge_down", "fall_det"}, kEdge);
}

Task any_edge(Random& random) {
  static const Edge kEdge{"<d> and prev differ", "<d> ^ prev", [](uint64_t now, uint64_t before) {
                            return (now | before) - (now & before);
                          }};
  return edge_detector(random, "any_edge", {"any_edge", "change", "toggle_det", "both_edges"},
                       kEdge);
}

Task sequence_detector(Random& random) {
  Draft d(random, {"seq_det", "detector", "pattern", "find_seq", "seq"});
  const int64_t length = random.between(3, 5);
  const auto pattern = static_cast<uint64_t>(random.between(1, (int64_t{1} << length) - 1));
  d.clocked();
  d.input("d", {"d", "bit_in", "x"});
  d.output("y", {"y", "found", "match", "hit"});
  d.set("length", length);
  d.set("last", length - 1);
  d.set("before", length - 2);
  d.set("pattern", fmt::format("{:0{}b}", pattern, length));
  d.say(
      {"A <length>-bit register h shifts left on each rising edge of <clk>, with <d> entering at "
       "bit 0.",
       "On each rising edge of <clk>, <d> is shifted into bit 0 of a <length>-bit register h."});
  d.say({"<y> is 1 while h is <pattern>.", "<y> is high when h equals binary <pattern>."});
  d.say_reset("h becomes 0");
  d.code("  reg [<last>:0] h;\n  assign <y> = (h == <length>'b<pattern>);\n");
  d.process("h <= 0;", "h <= {h[<before>:0], <d>};");
  const auto next = [=](const Bits& in, uint64_t h) { return (2 * h + in[0]) & mask(length); };
  const auto outputs = [=](const Bits&, uint64_t h) { return Bits{h == pattern}; };
  return d.task("sequence_detector", {.outputs = outputs, .next = next}, {.steps = 360});
}

Task cycle(Random& random) {
  Draft d(random, {"cycle", "sequencer", "fsm", "states", "light"});
  const int64_t width = random.between(2, 4), count = random.between(3, 4);
  std::vector<uint64_t> all;
  for (uint64_t value = 0; value <= mask(width); ++value) all.push_back(value);
  random.shuffle(all);
  const std::vector<uint64_t> states(all.begin(), all.begin() + count);
  const bool enable = random.below(2) == 0;
  d.clocked();
  if (enable) d.input("en", {"en", "step", "go"}, 1, 0.7);
  d.output_reg("q", {"q", "state", "out", "code"}, width);
  d.set("list", fmt::format("{}", fmt::join(states, ", ")));
  d.set("first", static_cast<int64_t>(states[0]));
  if (enable)
    d.say(
        {"On each rising edge of <clk> with <en> = 1, <q> takes the next value of the cycle "
         "<list>, "
         "then <first> again.",
         "While <en> is 1, each rising edge of <clk> moves <q> along the cycle <list>, <first>."});
  else
    d.say(
        {"On each rising edge of <clk>, <q> takes the next value of the cycle <list>, then <first> "
         "again.",
         "Each rising edge of <clk> moves <q> along the cycle <list>, <first>."});
  d.say_reset("<q> becomes <first>");
  std::string update = enable ? "if (<en>) case (<q>)\n" : "case (<q>)\n";
  for (size_t i = 0; i + 1 < states.size(); ++i)
    update += fmt::format("      {}: <q> <= {};\n", states[i], states[i + 1]);
  d.process("<q> <= <first>;", update + "      default: <q> <= <first>;\n    endcase");
  const auto next = [=](const Bits& in, uint64_t q) {
    if (enable && in[0] == 0) return q;
    const auto at = std::ranges::find(states, q);
    return at + 1 == states.end() ? states[0] : *(at + 1);
  };
  return d.task("cycle", counted(next, states[0]));
}

}  // namespace

const Kind kRisingEdge{"rising_edge", rising_edge};
const Kind kFallingEdge{"falling_edge", falling_edge};
const Kind kAnyEdge{"any_edge", any_edge};
const Kind kSequenceDetector{"sequence_detector", sequence_detector};
const Kind kCycle{"cycle", cycle};

}  // namespace hone::verilog
