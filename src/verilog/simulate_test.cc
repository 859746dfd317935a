#include "verilog/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "verilog/bench.h"

namespace hone::verilog {
namespace {

using testing::HasSubstr;

// Asks for y = ~a on module inv.
std::string inverter_bench() {
  Random random(1);
  return bench({.module = "inv", .clock = {}, .reset = {}, .inputs = {{"a"}}, .outputs = {{"y"}}},
               combinational([](const Bits& in) { return Bits{in[0] ^ 1}; }), {}, random);
}

std::string inverter(const std::string& body) {
  return "module inv(input a, output y);\n" + body + "\nendmodule\n";
}

struct Case {
  const char* what;
  std::string module;
  Verdict verdict;
  const char* error;  // part of the line
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"right", inverter("assign y = ~a;"), Verdict::kPass, ""},
      {"right, with directives",
       "`timescale 1ns/1ps\n`default_nettype none\n" +
           std::string("module inv(input wire a, output wire y);\nassign y = ~a;\nendmodule\n"),
       Verdict::kPass, ""},
      {"right, and talks", inverter("assign y = ~a;\ninitial $display(\"hello\");"), Verdict::kPass,
       ""},
      {"right, with a helper",
       "module n(input a, output y);\nassign y = ~a;\nendmodule\n" + inverter("n i(a, y);"),
       Verdict::kPass, ""},
      {"wrong", inverter("assign y = a;"), Verdict::kFailSimulate,
       "MISMATCH step 0: got 0, want 1"},
      {"stuck", inverter("assign y = 1;"), Verdict::kFailSimulate, "MISMATCH step 1"},
      {"undriven", inverter(""), Verdict::kFailSimulate, "got Z, want 1"},
      {"unknown", inverter("assign y = 1'bx;"), Verdict::kFailSimulate, "got X, want 1"},
      {"nothing", "", Verdict::kFailCompile, "there is no module"},
      {"syntax", inverter("assign y = ;"), Verdict::kFailCompile, "module.v:2: "},
      {"other name", "module other(input a, output y);\nassign y = ~a;\nendmodule\n",
       Verdict::kFailCompile, "Unknown module type: inv"},
      {"missing port", "module inv(input b, output y);\nassign y = ~b;\nendmodule\n",
       Verdict::kFailCompile, "port ``a''"},
      {"wider port", "module inv(input [1:0] a, output y);\nassign y = ~a[0];\nendmodule\n",
       Verdict::kFailSimulate, "MISMATCH port a has 2 bits, want 1"},
      {"one port more", "module inv(input a, output y, output z);\nassign y = ~a;\nendmodule\n",
       Verdict::kFailCompile, "Wrong number of ports. Expecting 3, got 2."},
      {"driven input", "module inv(output a, output y);\nassign y = ~a;\nendmodule\n",
       Verdict::kFailCompile, "error"},
      {"prints the verdict", inverter("initial begin $display(\"PASS\"); $finish; end"),
       Verdict::kFailSimulate, "PASS"},
      {"prints the placeholder",
       inverter("initial begin $display(\"PASS hone_nonce\"); $finish(0); end"),
       Verdict::kFailSimulate, "PASS hone_nonce"},
      {"ends at once", inverter("initial $finish(0);"), Verdict::kFailSimulate,
       "ended without a verdict"},
      {"stops", inverter("initial $stop;"), Verdict::kFailSimulate, ""},
      {"ends later", inverter("assign y = ~a;\ninitial begin #1; $finish(0); end"),
       Verdict::kFailSimulate, "ended without a verdict"},
      {"reaches for the bench", inverter("always @(*) tb_hone_nonce.tb_errors = 0;"),
       Verdict::kFailCompile, "error"},
      {"reaches upwards", inverter("always @(*) tb_dut.tb_errors = 0;"), Verdict::kFailCompile,
       "error"},
      {"brings its own bench",
       inverter("") + "module tb_hone_nonce;\ninitial $display(\"PASS\");\n"
                      "endmodule\n",
       Verdict::kFailSimulate, "got Z"},
      {"reads a file", inverter("integer f = $fopen(\"/etc/passwd\");"), Verdict::kFailCompile,
       "$fopen"},
      {"includes a file", "`include \"/etc/passwd\"\n", Verdict::kFailCompile, "`include"},
      {"loops for ever", inverter("reg q = 0;\ninitial while (1) q = ~q;\nassign y = q;"),
       Verdict::kTimeout, "no end within"},
      {"floods", inverter("initial while (1) $display(\"x\");"), Verdict::kFailSimulate,
       "more than 65536 bytes of output"},
      {"huge memory", inverter("reg [1023:0] m [0:268435455];\ninitial m[0] = 0;\nassign y = ~a;"),
       Verdict::kFailSimulate, ""},
  };
  return all;
}

TEST(Simulate, GivesTheVerdict) {
  const std::string testbench = inverter_bench();
  for (const Case& c : cases()) {
    const double seconds =
        c.verdict == Verdict::kTimeout ? 0.5 : 60;  // a busy machine is no verdict
    const Outcome outcome = simulate(c.module, testbench, {.limits = {.seconds = seconds}});
    EXPECT_EQ(name(outcome.verdict), name(c.verdict)) << c.what << ": " << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr(c.error)) << c.what;
    EXPECT_EQ(outcome.error.empty(), c.verdict == Verdict::kPass) << c.what;
  }
  std::printf("%zu modules\n", cases().size());
  EXPECT_GE(cases().size(), 28u);
}

TEST(Simulate, KeepsTheOrderOnThreads) {
  const std::string testbench = inverter_bench();
  const std::string right = inverter("assign y = ~a;"), wrong = inverter("assign y = a;");
  std::vector<Job> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back({i % 3 == 0 ? wrong : right, testbench});
  const std::vector<Outcome> outcomes = simulate_all(jobs, 2);
  ASSERT_EQ(outcomes.size(), jobs.size());
  for (size_t i = 0; i < outcomes.size(); ++i)
    EXPECT_EQ(outcomes[i].verdict == Verdict::kPass, i % 3 != 0) << i;
}

TEST(Simulate, SaysWhatToInstall) {
  const std::string testbench = inverter_bench(), module = inverter("assign y = ~a;");
  const Simulator none{.compiler = "hone-no-iverilog"};
  const auto install = testing::ThrowsMessage<FileError>(
      "cannot run hone-no-iverilog: it is not installed; install Icarus Verilog "
      "(apt-get install iverilog)");
  EXPECT_THAT([&] { simulate(module, testbench, none); }, install);
  const std::vector<Job> jobs(3, Job{module, testbench});
  EXPECT_THAT([&] { simulate_all(jobs, 2, none); }, install);
}

}  // namespace
}  // namespace hone::verilog
