// Arithmetic on words: saturation, extension, constants, a small ALU.
#include <fmt/format.h>

#include <algorithm>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kResults{"y", "out", "result", "z"};
const Names kWords{"a", "data", "x", "value", "d"};

Task saturating_adder(Random& random) {
  Draft d(random, {"sat_add", "saturate", "clip_add", "limit_sum"});
  const int64_t width = random.between(2, 12);
  const auto top = static_cast<int64_t>(mask(width));
  d.operands(width);
  d.output("y", kResults, width);
  d.set("top", top);
  d.set("w", width);
  d.set("last", width - 1);
  d.say({"<y> is <a> plus <b>, limited to <top> when the sum is larger.",
         "<y> is the sum of <a> and <b>; a sum above <top> gives <top>."});
  d.code("  wire [<w>:0] t = <a> + <b>;\n  assign <y> = t[<w>] ? <top> : t[<last>:0];\n");
  return d.task("saturating_adder", combinational([=](const Bits& in) {
                  return Bits{std::min(in[0] + in[1], mask(width))};
                }));
}

Task extend(Random& random) {
  Draft d(random, {"extend", "widen", "ext", "resize"});
  const int64_t from = random.between(2, 8), extra = random.between(2, 8);
  const bool is_signed = random.below(2) == 0;
  d.input("a", kWords, from);
  d.output("y", kResults, from + extra);
  d.set("extra", extra);
  d.set("last", from - 1);
  d.set("to", from + extra);
  if (is_signed) {
    d.say({"<y> is <a> sign-extended to <to> bits.",
           "Extend <a> to <to> bits on <y> by repeating its sign bit."});
    d.code("  assign <y> = {{<extra>{<a>[<last>]}}, <a>};\n");
  } else {
    d.say({"<y> is <a> zero-extended to <to> bits.",
           "Extend <a> to <to> bits on <y> with zeros in front."});
    d.code("  assign <y> = {<extra>'d0, <a>};\n");
  }
  const auto outputs = [=](const Bits& in) {
    const bool negative = is_signed && in[0] > mask(from) / 2;
    return Bits{negative ? in[0] - (uint64_t{1} << from) : in[0]};
  };
  return d.task("extend", combinational(outputs));
}

struct ConstantOp {
  Names phrasings;
  const char* code;
  uint64_t (*of)(uint64_t a, uint64_t k);
};

Task constant_arithmetic(Random& random) {
  static const std::vector<ConstantOp> kOps{
      {{"<y> is <a> plus <k>, without a carry.",
        "<y> equals <a> plus the constant <k>, modulo 2^<w>."},
       "<a> + <k>",
       [](uint64_t a, uint64_t k) { return a + k; }},
      {{"<y> is <a> minus <k>, without a borrow.",
        "<y> equals <a> minus the constant <k>, modulo 2^<w>."},
       "<a> - <k>",
       [](uint64_t a, uint64_t k) { return a - k; }},
      {{"<y> is <a> times <k>, low <w> bits only.",
        "<y> equals <a> times the constant <k>, modulo 2^<w>."},
       "<a> * <k>",
       [](uint64_t a, uint64_t k) { return a * k; }}};
  Draft d(random, {"offset", "const_op", "bias", "fixed_op", "adjust"});
  const int64_t width = random.between(4, 12), k = random.between(2, 13);
  const ConstantOp& op = random.pick(kOps);
  d.input("a", kWords, width);
  d.output("y", kResults, width);
  d.set("k", k);
  d.set("w", width);
  d.say(op.phrasings);
  d.code(fmt::format("  assign <y> = {};\n", op.code));
  return d.task("constant_arithmetic", combinational([&op, k](const Bits& in) {
                  return Bits{op.of(in[0], static_cast<uint64_t>(k))};
                }));
}

struct AluOp {
  const char *words, *code;
  uint64_t (*of)(uint64_t a, uint64_t b);
};

Task alu(Random& random) {
  std::vector<AluOp> ops{
      {"<a> + <b>", "<a> + <b>", [](uint64_t a, uint64_t b) { return b + a; }},
      {"<a> - <b>", "<a> - <b>", [](uint64_t a, uint64_t b) { return a + ~b + 1; }},
      {"<a> AND <b>", "<a> & <b>", [](uint64_t a, uint64_t b) { return ~(~a | ~b); }},
      {"<a> OR <b>", "<a> | <b>", [](uint64_t a, uint64_t b) { return ~(~a & ~b); }},
      {"<a> XOR <b>", "<a> ^ <b>", [](uint64_t a, uint64_t b) { return (a | b) - (a & b); }}};
  random.shuffle(ops);
  Draft d(random, {"alu", "small_alu", "compute", "arith"});
  const int64_t width = random.between(2, 8);
  const bool four = random.below(2) == 0;
  d.operands(width);
  d.input("op", {"op", "func", "sel", "mode"}, four ? 2 : 1);
  d.output_reg("y", kResults, width);
  for (size_t i = 0; i < 4; ++i) d.set(fmt::format("op{}", i), ops[i].words);
  if (four)
    d.say({"<y> is <op0>, <op1>, <op2> or <op3> (bitwise) when <op> is 0, 1, 2 or 3.",
           "<op> selects <y>: 0 gives <op0>, 1 gives <op1>, 2 gives <op2>, 3 gives <op3>."});
  else
    d.say({"<y> is <op0> when <op> is 0 and <op1> when <op> is 1.",
           "<op> selects <y>: 0 gives <op0>, 1 gives <op1>."});
  d.say({"Drop carries.", "Carries are dropped."});
  const size_t count = four ? 4 : 2;
  d.code("  always @(*)\n    case (<op>)\n");
  for (size_t i = 0; i + 1 < count; ++i)
    d.code(fmt::format("      {}'d{}: <y> = {};\n", four ? 2 : 1, i, ops[i].code));
  d.code(fmt::format("      default: <y> = {};\n    endcase\n", ops[count - 1].code));
  return d.task("alu",
                combinational([ops](const Bits& in) { return Bits{ops[in[2]].of(in[0], in[1])}; }));
}

}  // namespace

const Kind kSaturatingAdder{"saturating_adder", saturating_adder};
const Kind kExtend{"extend", extend};
const Kind kConstantArithmetic{"constant_arithmetic", constant_arithmetic};
const Kind kAlu{"alu", alu};

}  // namespace hone::verilog
