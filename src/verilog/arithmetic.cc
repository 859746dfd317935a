// Sums, differences and what follows from a comparison.
#include <algorithm>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kResults{"y", "out", "result", "z"};

Task adder(Random& random) {
  Draft d(random, {"adder", "add", "summing", "plus", "addition"});
  const int64_t width = random.between(2, 16);
  const bool carry_in = random.below(2) == 0, carry_out = random.below(2) == 0;
  d.operands(width);
  if (carry_in) d.input("cin", {"cin", "carry_in", "ci"});
  d.output("s", {"sum", "s", "total"}, width);
  if (carry_out) d.output("cout", {"cout", "carry", "co"});
  d.set("terms", carry_in ? "<a> plus <b> plus <cin>" : "<a> plus <b>");
  if (carry_out)
    d.say({"<s> is <terms> and <cout> is the carry out.",
           "<cout> and <s> together are the full sum of <terms>."});
  else
    d.say(
        {"<s> is <terms>; the carry out is dropped.", "<s> equals <terms>, without a carry out."});
  d.code(carry_out ? "  assign {<cout>, <s>} = " : "  assign <s> = ");
  d.code(carry_in ? "<a> + <b> + <cin>;\n" : "<a> + <b>;\n");
  const auto outputs = [=](const Bits& in) {
    const uint64_t sum = in[0] + in[1] + (carry_in ? in[2] : 0);
    return carry_out ? Bits{sum & mask(width), sum >> width} : Bits{sum};
  };
  return d.task("adder", combinational(outputs));
}

Task subtractor(Random& random) {
  Draft d(random, {"subtractor", "sub", "diff", "minus", "difference"});
  const int64_t width = random.between(2, 16);
  const bool borrow = random.below(2) == 0;
  d.operands(width);
  d.output("s", {"diff", "d", "delta"}, width);
  if (borrow) d.output("bout", {"borrow", "bout", "bo"});
  if (borrow)
    d.say({"<s> is <a> minus <b> and <bout> is the borrow out.",
           "<s> is <a> minus <b>; <bout> is 1 when <a> is less than <b>."});
  else
    d.say({"<s> is <a> minus <b>; the borrow is dropped.",
           "<s> equals <a> minus <b>, without a borrow out."});
  d.code(borrow ? "  assign {<bout>, <s>} = <a> - <b>;\n" : "  assign <s> = <a> - <b>;\n");
  const auto outputs = [=](const Bits& in) {
    const uint64_t difference = (uint64_t{1} << width) + in[0] - in[1];
    return borrow ? Bits{difference & mask(width), in[0] < in[1]} : Bits{difference};
  };
  return d.task("subtractor", combinational(outputs));
}

Task minimum(Random& random) {
  Draft d(random, {"minimum", "min2", "smaller", "lesser", "min_of"});
  const int64_t width = random.between(2, 16);
  d.operands(width);
  d.output("y", kResults, width);
  d.say({"<y> is the smaller of the unsigned numbers <a> and <b>.",
         "<y> is the minimum of <a> and <b> (unsigned).",
         "Drive <y> with whichever of <a> and <b> is smaller, as unsigned numbers."});
  d.code("  assign <y> = (<a> < <b>) ? <a> : <b>;\n");
  return d.task("minimum",
                combinational([](const Bits& in) { return Bits{std::min(in[0], in[1])}; }));
}

Task maximum(Random& random) {
  Draft d(random, {"maximum", "max2", "larger", "greater", "max_of"});
  const int64_t width = random.between(2, 16);
  d.operands(width);
  d.output("y", kResults, width);
  d.say({"<y> is the larger of the unsigned numbers <a> and <b>.",
         "<y> is the maximum of <a> and <b> (unsigned).",
         "Drive <y> with whichever of <a> and <b> is larger, as unsigned numbers."});
  d.code("  assign <y> = (<a> > <b>) ? <a> : <b>;\n");
  return d.task("maximum",
                combinational([](const Bits& in) { return Bits{std::max(in[0], in[1])}; }));
}

Task absolute_difference(Random& random) {
  Draft d(random, {"abs_diff", "distance", "absdiff", "gap"});
  const int64_t width = random.between(2, 16);
  d.operands(width);
  d.output("y", kResults, width);
  d.say({"<y> is the absolute difference of the unsigned numbers <a> and <b>.",
         "<y> is <a> minus <b> if <a> is greater than <b>, else <b> minus <a> (unsigned).",
         "<y> is the distance between the unsigned values <a> and <b>."});
  d.code("  assign <y> = (<a> > <b>) ? <a> - <b> : <b> - <a>;\n");
  return d.task("absolute_difference", combinational([](const Bits& in) {
                  return Bits{std::max(in[0], in[1]) - std::min(in[0], in[1])};
                }));
}

}  // namespace

const Kind kAdder{"adder", adder};
const Kind kSubtractor{"subtractor", subtractor};
const Kind kMinimum{"minimum", minimum};
const Kind kMaximum{"maximum", maximum};
const Kind kAbsoluteDifference{"absolute_difference", absolute_difference};

}  // namespace hone::verilog
