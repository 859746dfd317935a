// Combinational logic that selects: multiplexers, decoders, priority encoders.
#include <fmt/format.h>

#include <bit>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kResults{"y", "out", "result", "z"};
const Names kSelects{"sel", "s", "select"};

Task mux2(Random& random) {
  Draft d(random, {"mux2", "mux", "selector", "choose", "mux_2to1"});
  const int64_t width = random.between(1, 16);
  const bool straight = random.below(2) == 0;
  d.operands(width);
  d.input("sel", kSelects);
  d.output("y", kResults, width);
  d.set("on1", straight ? "<b>" : "<a>");
  d.set("on0", straight ? "<a>" : "<b>");
  d.say({"<y> is <on1> when <sel> is 1 and <on0> when <sel> is 0.",
         "If <sel> is high, <y> equals <on1>; otherwise <y> equals <on0>.",
         "<sel> selects the input that drives <y>: 0 selects <on0>, 1 selects <on1>."});
  d.code("  assign <y> = <sel> ? <on1> : <on0>;\n");
  return d.task("mux2", combinational([=](const Bits& in) {
                  return Bits{in[(in[2] == 1) == straight ? 1 : 0]};
                }));
}

Task mux4(Random& random) {
  static const std::vector<Names> kInputs{{"a", "b", "c", "d"},
                                          {"in0", "in1", "in2", "in3"},
                                          {"d0", "d1", "d2", "d3"},
                                          {"w", "x", "y", "z"}};
  Draft d(random, {"mux4", "mux_4to1", "mux_n", "selector4", "route"});
  const int64_t width = random.between(1, 8), count = random.between(3, 4);
  const Names& inputs = random.pick(kInputs);
  for (int64_t i = 0; i < count; ++i)
    d.input(fmt::format("i{}", i), {inputs[static_cast<size_t>(i)]}, width);
  d.input("sel", kSelects, 2);
  d.output_reg("y", {"out", "result", "q", "mux_out"}, width);
  if (count == 4)
    d.say({"<y> is <i0>, <i1>, <i2> or <i3> when <sel> is 0, 1, 2 or 3.",
           "<sel> selects what drives <y>: 0 for <i0>, 1 for <i1>, 2 for <i2>, 3 for <i3>."});
  else
    d.say({"<y> is <i0>, <i1> or <i2> when <sel> is 0, 1 or 2, and 0 when <sel> is 3.",
           "<sel> selects what drives <y>: 0 for <i0>, 1 for <i1>, 2 for <i2>, and 3 gives 0."});
  d.code("  always @(*)\n    case (<sel>)\n");
  for (int64_t i = 0; i < 3; ++i) d.code(fmt::format("      2'd{0}: <y> = <i{0}>;\n", i));
  d.code(count == 4 ? "      default: <y> = <i3>;\n" : "      default: <y> = 0;\n");
  d.code("    endcase\n");
  return d.task("mux4", combinational([count](const Bits& in) {
                  const uint64_t sel = in[static_cast<size_t>(count)];
                  return Bits{sel < static_cast<uint64_t>(count) ? in[sel] : 0};
                }));
}

enum class Enable { kNone, kHigh, kLow };

Task decoder(Random& random) {
  static const std::vector<Enable> kEnables{Enable::kNone, Enable::kHigh, Enable::kLow};
  Draft d(random, {"decoder", "dec", "one_hot", "line_select", "decode"});
  const int64_t width = random.between(2, 4);
  const Enable enable = random.pick(kEnables);
  const bool low = random.below(2) == 0;
  d.input("a", {"a", "addr", "sel", "code"}, width);
  if (enable == Enable::kHigh) d.input("en", {"en", "enable"}, 1, 0.75);
  if (enable == Enable::kLow) d.input("en", {"en_n", "enable_n"}, 1, 0.25);
  d.output("y", {"y", "out", "lines"}, int64_t{1} << width);
  if (low)
    d.say({"Bit <a> of <y> is 0 and all other bits are 1.",
           "<y> is active low: only the bit with number <a> is 0."});
  else
    d.say({"Bit <a> of <y> is 1 and all other bits are 0.",
           "<y> is one-hot: only the bit with number <a> is 1."});
  d.set("idle", low ? "all ones" : "0");
  if (enable == Enable::kHigh) d.say({"When <en> is 0, <y> is <idle>."});
  if (enable == Enable::kLow) d.say({"When <en> is 1, <y> is <idle>."});
  const std::string line = low ? "~(1 << <a>)" : "(1 << <a>)", idle = low ? "~0" : "0";
  if (enable == Enable::kNone) d.code("  assign <y> = " + line + ";\n");
  if (enable == Enable::kHigh) d.code("  assign <y> = <en> ? " + line + " : " + idle + ";\n");
  if (enable == Enable::kLow) d.code("  assign <y> = <en> ? " + idle + " : " + line + ";\n");
  const auto outputs = [=](const Bits& in) {
    const bool on = enable == Enable::kNone || (in[1] == 1) == (enable == Enable::kHigh);
    uint64_t y = 0;
    for (uint64_t i = 0; i < uint64_t{1} << width; ++i)
      if ((on && i == in[0]) != low) y |= uint64_t{1} << i;
    return Bits{y};
  };
  return d.task("decoder", combinational(outputs));
}

Task priority_encoder(Random& random) {
  Draft d(random, {"prio", "priority_enc", "first_one", "arbiter", "find_bit"});
  const int64_t width = random.between(3, 6);
  const bool highest = random.below(2) == 0, valid = random.below(2) == 0;
  d.input("a", {"req", "a", "d"}, width);
  d.output("y", {"idx", "y", "pos", "out"}, std::bit_width(static_cast<uint64_t>(width - 1)));
  if (valid) d.output("v", {"valid", "any", "v"});
  d.set("which", highest ? "highest" : "lowest");
  d.say({"<y> is the number of the <which> bit of <a> that is 1, or 0 when <a> is 0.",
         "<y> gives the index of the <which> set bit in <a>; it is 0 if no bit is set."});
  if (valid) d.say({"<v> is 1 when <a> is not 0.", "<v> is high if any bit of <a> is 1."});
  std::string chain;
  for (int64_t i = 1; i < width; ++i) {
    const int64_t bit = highest ? width - i : i - 1;
    chain += fmt::format("<a>[{0}] ? {0} : ", bit);
  }
  // Highest first ends at bit 0, whose number is also the idle value; lowest first does not.
  chain += highest ? "0" : fmt::format("<a>[{0}] ? {0} : 0", width - 1);
  d.code("  assign <y> = " + chain + ";\n");
  if (valid) d.code("  assign <v> = |<a>;\n");
  const auto outputs = [=](const Bits& in) {
    const int top = in[0] == 0 ? 0 : std::bit_width(in[0]) - 1;
    const int bottom = in[0] == 0 ? 0 : std::countr_zero(in[0]);
    Bits out{static_cast<uint64_t>(highest ? top : bottom)};
    if (valid) out.push_back(in[0] != 0);
    return out;
  };
  return d.task("priority_encoder", combinational(outputs));
}

}  // namespace

const Kind kMux2{"mux2", mux2};
const Kind kMux4{"mux4", mux4};
const Kind kDecoder{"decoder", decoder};
const Kind kPriorityEncoder{"priority_encoder", priority_encoder};

}  // namespace hone::verilog
