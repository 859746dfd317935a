// Memories of at most 64 bits, which is what a bench's state holds.
#include <fmt/format.h>

#include "verilog/draft.h"
#include "verilog/families.h"

namespace hone::verilog {
namespace {

const Names kAddresses{"addr", "a", "address"};

Task ram(Random& random) {
  Draft d(random, {"ram", "memory", "mem_block", "regfile", "storage"});
  const int64_t address = random.between(1, 3), words = int64_t{1} << address;
  const int64_t width = random.between(2, 60 / words);
  const bool dual = random.below(2) == 0;
  d.clocked(ResetStyle::kNone);
  d.input("we", {"we", "wr", "wen"}, 1, 0.4);
  d.input("wa", dual ? Names{"waddr", "wa", "wr_addr"} : kAddresses, address);
  if (dual) d.input("ra", {"raddr", "ra", "rd_addr"}, address);
  d.input("d", {"din", "d", "wdata"}, width);
  d.output("q", {"dout", "q", "rdata"}, width);
  d.set("read", dual ? "<ra>" : "<wa>");
  d.set("words", words);
  d.set("top", words - 1);
  d.set("last", width - 1);
  d.say({"It has a memory mem of <words> words.", "mem holds <words> words."});
  d.say({"On a rising edge of <clk> with <we> = 1, <d> is written to address <wa>.",
         "If <we> is 1 at the rising edge of <clk>, word <wa> takes <d>."});
  d.say({"<q> always shows the word at <read>, without a clock.",
         "Reading is asynchronous: <q> is the word at address <read>."});
  d.code("  reg [<last>:0] mem [0:<top>];\n  assign <q> = mem[<read>];\n");
  d.code("  always @(posedge <clk>)\n    if (<we>) mem[<wa>] <= <d>;\n");
  const auto next = [=](const Bits& in, uint64_t mem) {
    if (in[0] == 0) return mem;
    const auto at = in[1] * static_cast<uint64_t>(width);
    return (mem & ~(mask(width) << at)) | in.back() << at;
  };
  const auto outputs = [=](const Bits& in, uint64_t mem) {
    return Bits{mem >> (in[dual ? 2 : 1] * static_cast<uint64_t>(width)) & mask(width)};
  };
  Plan plan{.unchecked = words};  // every word is written before any is compared
  for (int64_t i = 0; i < words; ++i) {
    plan.opening.push_back({1, static_cast<uint64_t>(i)});
    if (dual) plan.opening.back().push_back(0);
    plan.opening.back().push_back(random.bits() & mask(width));
  }
  return d.task("ram", {.outputs = outputs, .next = next}, plan);
}

Task rom(Random& random) {
  Draft d(random, {"rom", "lookup", "lut", "const_mem", "rom4"});
  const int64_t width = random.between(3, 8);
  Bits words;
  for (int i = 0; i < 4; ++i) words.push_back(random.bits() & mask(width));
  d.input("a", kAddresses, 2);
  d.output_reg("q", {"q", "data", "dout", "y"}, width);
  for (size_t i = 0; i < 4; ++i) d.set(fmt::format("w{}", i), static_cast<int64_t>(words[i]));
  d.say({"<q> is <w0>, <w1>, <w2> or <w3> when <a> is 0, 1, 2 or 3.",
         "A table read by <a>: 0 gives <w0>, 1 gives <w1>, 2 gives <w2>, 3 gives <w3> on <q>."});
  d.code("  always @(*)\n    case (<a>)\n");
  for (size_t i = 0; i < 3; ++i) d.code(fmt::format("      2'd{0}: <q> = <w{0}>;\n", i));
  d.code("      default: <q> = <w3>;\n    endcase\n");
  return d.task("rom", combinational([words](const Bits& in) { return Bits{words[in[0]]}; }));
}

}  // namespace

const Kind kRam{"ram", ram};
const Kind kRom{"rom", rom};

}  // namespace hone::verilog
