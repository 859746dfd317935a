// Shift registers: plain, ring, linear feedback.
#include <fmt/format.h>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kOutputs{"q", "out", "data", "sr"};
const Names kInputs{"d", "din", "sin", "ser"};
const Names kEnables{"en", "enable", "shift"};

struct Side {
  const char *direction, *end, *update;
};

// Both directions read alike; `next` shifts one bit in.
Task shift(Random& random, const std::string& kind, const Names& modules, const Side& side,
           uint64_t (*next_of)(uint64_t q, uint64_t bit, int64_t width)) {
  Draft d(random, modules);
  const int64_t width = random.between(3, 12);
  const bool enable = random.below(2) == 0;
  d.clocked();
  if (enable) d.input("en", kEnables, 1, 0.7);
  d.input("d", kInputs);
  d.output_reg("q", kOutputs, width);
  d.set("direction", side.direction);
  d.set("end", side.end);
  d.set("last", width - 1);
  d.set("before", width - 2);
  if (enable)
    d.say({"On each rising edge of <clk> with <en> = 1, <q> shifts <direction> by one.",
           "<q> is a register that shifts <direction> at a rising edge of <clk> while <en> is 1."});
  else
    d.say({"On each rising edge of <clk>, <q> shifts <direction> by one.",
           "<q> is a register that shifts <direction> at every rising edge of <clk>."});
  d.say({"<d> enters at the <end>.", "The <end> of <q> takes <d>."});
  d.say_reset("<q> becomes 0");
  d.process("<q> <= 0;", enable ? std::string("if (<en>) ") + side.update : side.update);
  const auto next = [=](const Bits& in, uint64_t q) {
    return enable && in[0] == 0 ? q : next_of(q, in.back(), width);
  };
  return d.task(kind, counted(next, 0));
}

Task shift_right(Random& random) {
  return shift(
      random, "shift_right", {"shift_right", "shreg", "shr_reg", "sipo_right", "shifter"},
      {"right", "most significant bit", "<q> <= {<d>, <q>[<last>:1]};"},
      [](uint64_t q, uint64_t bit, int64_t width) { return q / 2 + (bit << (width - 1)); });
}

Task shift_left(Random& random) {
  return shift(random, "shift_left", {"shift_left", "shreg", "shl_reg", "sipo_left", "shifter"},
               {"left", "least significant bit", "<q> <= {<q>[<before>:0], <d>};"},
               [](uint64_t q, uint64_t bit, int64_t width) { return (2 * q + bit) & mask(width); });
}

Task ring_counter(Random& random) {
  Draft d(random, {"ring", "ring_counter", "one_hot_ring", "rotate", "rotator"});
  const int64_t width = random.between(3, 10);
  const bool left = random.below(2) == 0;
  d.clocked();
  d.output_reg("q", kOutputs, width);
  d.set("direction", left ? "left" : "right");
  d.set("last", width - 1);
  d.set("before", width - 2);
  d.say({"On each rising edge of <clk>, <q> rotates <direction> by one bit.",
         "<q> is rotated <direction> by one position at every rising edge of <clk>."});
  d.say_reset("<q> becomes 1");
  d.process("<q> <= 1;",
            left ? "<q> <= {<q>[<before>:0], <q>[<last>]};" : "<q> <= {<q>[0], <q>[<last>:1]};");
  const auto next = [=](const Bits&, uint64_t q) {
    if (left) return q == uint64_t{1} << (width - 1) ? 1 : q * 2;
    return q == 1 ? uint64_t{1} << (width - 1) : q / 2;
  };
  return d.task("ring_counter", counted(next, 1));
}

Task lfsr(Random& random) {
  Draft d(random, {"lfsr", "prbs", "random_bits", "noise", "feedback_shift"});
  const int64_t width = random.between(3, 8);
  const int64_t tap = random.below(width - 1);
  d.clocked();
  d.output_reg("q", kOutputs, width);
  d.set("last", width - 1);
  d.set("before", width - 2);
  d.set("tap", tap);
  d.say(
      {"On each rising edge of <clk>, <q> shifts left and its bit 0 becomes the XOR of the old "
       "bits <last> and <tap>.",
       "Linear feedback: at every rising edge of <clk>, <q> shifts left by one and the XOR of its "
       "bits <last> and <tap> enters at bit 0."});
  d.say_reset("<q> becomes 1");
  d.process("<q> <= 1;", "<q> <= {<q>[<before>:0], <q>[<last>] ^ <q>[<tap>]};");
  const auto next = [=](const Bits&, uint64_t q) {
    const bool feedback = (q >> (width - 1) & 1) != (q >> tap & 1);
    return (q * 2 + (feedback ? 1 : 0)) & mask(width);
  };
  return d.task("lfsr", counted(next, 1));
}

}  // namespace

const Kind kShiftRight{"shift_right", shift_right};
const Kind kShiftLeft{"shift_left", shift_left};
const Kind kRingCounter{"ring_counter", ring_counter};
const Kind kLfsr{"lfsr", lfsr};

}  // namespace hone::verilog
