// Combinational logic of one expression: gates, parity, comparisons, codes, slices.
#include <bit>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kResults{"y", "out", "result", "z", "f"};
const Names kWords{"a", "data", "x", "value", "d"};
const Names kFlags{"y", "flag", "out", "match", "hit"};

struct Gate {
  const char *word, *code;
  uint64_t (*of)(uint64_t a, uint64_t b);
};

Task bitwise_gate(Random& random) {
  static const std::vector<Gate> kGates{
      {"AND", "<a> & <b>", [](uint64_t a, uint64_t b) { return a & b; }},
      {"OR", "<a> | <b>", [](uint64_t a, uint64_t b) { return a | b; }},
      {"XOR", "<a> ^ <b>", [](uint64_t a, uint64_t b) { return (a & ~b) | (~a & b); }},
      {"NAND", "~(<a> & <b>)", [](uint64_t a, uint64_t b) { return ~a | ~b; }},
      {"NOR", "~(<a> | <b>)", [](uint64_t a, uint64_t b) { return ~a & ~b; }},
      {"XNOR", "~(<a> ^ <b>)", [](uint64_t a, uint64_t b) { return (a & b) | (~a & ~b); }}};
  Draft d(random, {"gate", "bitwise", "logic_gate", "combine", "bit_op"});
  const Gate& gate = random.pick(kGates);
  const int64_t width = random.between(1, 16);
  d.operands(width);
  d.output("y", kResults, width);
  d.set("op", gate.word);
  d.say({"<y> is the bitwise <op> of <a> and <b>.", "<y> equals <a> <op> <b>, bit by bit.",
         "Each bit of <y> is the <op> of the same bits of <a> and <b>."});
  d.code(std::string("  assign <y> = ") + gate.code + ";\n");
  return d.task("bitwise_gate",
                combinational([&gate](const Bits& in) { return Bits{gate.of(in[0], in[1])}; }));
}

Task parity(Random& random) {
  Draft d(random, {"parity", "parity_gen", "parity_check", "par"});
  const int64_t width = random.between(3, 16);
  const bool odd = random.below(2) == 0;
  d.input("a", kWords, width);
  d.output("y", {"y", "p", "parity_bit", "out"});
  d.set("which", odd ? "odd" : "even");
  d.say({"<y> is 1 when <a> has an <which> number of ones.",
         "<y> is 1 exactly when the number of 1 bits in <a> is <which>.",
         "Set <y> to 1 if the count of ones in <a> is <which>, else to 0."});
  d.code(odd ? "  assign <y> = ^<a>;\n" : "  assign <y> = ~^<a>;\n");
  return d.task("parity", combinational([odd](const Bits& in) {
                  return Bits{(std::popcount(in[0]) % 2 == 1) == odd};
                }));
}

struct Relation {
  const char *words, *code;
  bool (*of)(uint64_t a, uint64_t b);
};

Task comparator(Random& random) {
  static const std::vector<Relation> kRelations{
      {"less than", "<", [](uint64_t a, uint64_t b) { return b > a; }},
      {"greater than", ">", [](uint64_t a, uint64_t b) { return b < a; }},
      {"less than or equal to", "<=", [](uint64_t a, uint64_t b) { return !(a > b); }},
      {"greater than or equal to", ">=", [](uint64_t a, uint64_t b) { return !(b > a); }},
      {"equal to", "==", [](uint64_t a, uint64_t b) { return (a ^ b) == 0; }},
      {"different from", "!=", [](uint64_t a, uint64_t b) { return (a ^ b) != 0; }}};
  Draft d(random, {"compare", "comparator", "cmp", "test_pair", "relation"});
  const Relation& relation = random.pick(kRelations);
  d.operands(random.between(2, 12));
  d.output("y", kFlags);
  d.set("is", relation.words);
  d.say({"<y> is 1 when <a> is <is> <b> (unsigned), else 0.",
         "Compare unsigned numbers: <y> is high if <a> is <is> <b>.",
         "Set <y> exactly when the unsigned value <a> is <is> <b>."});
  d.code(std::string("  assign <y> = (<a> ") + relation.code + " <b>);\n");
  return d.task("comparator", combinational([&relation](const Bits& in) {
                  return Bits{relation.of(in[0], in[1])};
                }));
}

Task range_check(Random& random) {
  Draft d(random, {"range_check", "in_range", "window", "limits", "band"});
  const int64_t width = random.between(4, 8);
  const auto top = static_cast<int64_t>(mask(width));
  const int64_t low = random.between(1, top / 2), high = random.between(low + 1, top - 1);
  const bool inside = random.below(2) == 0;
  d.input("a", kWords, width);
  d.output("y", kFlags);
  d.set("low", low);
  d.set("high", high);
  if (inside) {
    d.say({"<y> is 1 when <a> is between <low> and <high>, both included.",
           "<y> is high while <a> is at least <low> and at most <high>."});
    d.code("  assign <y> = (<a> >= <low>) && (<a> <= <high>);\n");
  } else {
    d.say({"<y> is 1 when <a> is below <low> or above <high>.",
           "<y> is high while <a> is less than <low> or greater than <high>."});
    d.code("  assign <y> = (<a> < <low>) || (<a> > <high>);\n");
  }
  const auto outputs = [=](const Bits& in) {
    const auto a = static_cast<int64_t>(in[0]);
    return Bits{(a - low < 0 || high - a < 0) != inside};
  };
  return d.task("range_check", combinational(outputs));
}

Task gray_encoder(Random& random) {
  Draft d(random, {"gray", "bin2gray", "to_gray", "gray_encoder"});
  const int64_t width = random.between(2, 16);
  d.input("a", {"bin", "b", "a", "value"}, width);
  d.output("y", {"gray_out", "g", "y", "code"}, width);
  d.say({"<y> is the Gray code of the binary number <a>.",
         "Convert the binary value <a> to Gray code on <y>.",
         "<y> is <a> in Gray code: <a> XOR <a> shifted right by one."});
  d.code("  assign <y> = <a> ^ (<a> >> 1);\n");
  const auto outputs = [width](const Bits& in) {
    uint64_t code = 0;  // neighbours differ: a Gray bit marks a change between two binary bits
    for (int64_t i = 0; i < width; ++i)
      if ((in[0] >> i & 1) != (in[0] >> (i + 1) & 1)) code |= uint64_t{1} << i;
    return Bits{code};
  };
  return d.task("gray_encoder", combinational(outputs));
}

Task slice(Random& random) {
  Draft d(random, {"slice", "field", "extract_bits", "part", "pick_bits"});
  const int64_t width = random.between(6, 16);
  const int64_t size = random.between(2, width - 3), low = random.between(1, width - size);
  d.input("a", kWords, width);
  d.output("y", {"y", "out", "field_out", "part_out"}, size);
  d.set("low", low);
  d.set("high", low + size - 1);
  d.say({"<y> is bits <high> down to <low> of <a>.", "<y> carries bits <high>..<low> of <a>.",
         "Connect <y> to the bits <high> to <low> of <a>."});
  d.code("  assign <y> = <a>[<high>:<low>];\n");
  return d.task("slice", combinational([=](const Bits& in) {
                  return Bits{(in[0] / (uint64_t{1} << low)) % (uint64_t{1} << size)};
                }));
}

}  // namespace

const Kind kBitwiseGate{"bitwise_gate", bitwise_gate};
const Kind kParity{"parity", parity};
const Kind kComparator{"comparator", comparator};
const Kind kRangeCheck{"range_check", range_check};
const Kind kGrayEncoder{"gray_encoder", gray_encoder};
const Kind kSlice{"slice", slice};

}  // namespace hone::verilog
