#include "verilog/screen.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hone::verilog {
namespace {

TEST(Screen, LetsOrdinaryModulesPass) {
  const std::vector<std::string> texts{
      "module m; endmodule",
      "`timescale 1ns/1ps\n`default_nettype none\nmodule m; endmodule",
      "assign y = $signed(a) < $unsigned(b); localparam W = $clog2(8);",
      "initial begin $display(\"costs $5 // and `x` \\\" $fopen\"); $finish(0); $stop; end",
      "// the `rst` input, see $fopen\nmodule m; endmodule",
      "/* `include \"x\" $system */ module m; endmodule",
      "wire a$b = 1;",
      "// caf\xc3\xa9\nmodule m; endmodule",
  };
  for (const std::string& text : texts) EXPECT_EQ(refusal(text), std::nullopt) << text;
  EXPECT_GE(texts.size(), 8u);
}

TEST(Screen, RefusesWhatReachesOutside) {
  const std::vector<std::string> texts{
      "initial $system(\"ls\");",
      "integer f = $fopen(\"/tmp/x\");",
      "initial $readmemh(\"x\", mem);",
      "initial $readmemb(\"x\", mem);",
      "initial $writememh(\"x\", mem);",
      "initial $dumpfile(\"x\");",
      "initial $fdisplay(1, \"x\");",
      "initial $sdf_annotate(\"x\");",
      "initial $value$plusargs(\"x=%d\", y);",
      "`include \"/etc/passwd\"",
      "`define F $fopen\n",
      "`undefineall",
      "initial $\\fopen (\"x\");",
      "wire \\a\" = 1; initial $fopen(\"x\"); // \"",
      "/**/$fopen(\"x\")/**/",
      "\"a\\\"b\" $fopen(\"x\")",
      "// comment\r$fopen(\"x\")",
      "\"no end\n // \" $fopen(\"x\")",
      "/* no end",
      std::string("module\0m", 8),
      "x$ $fopen",
      "$",
      "`",
      std::string(70000, ' '),
  };
  for (const std::string& text : texts) EXPECT_NE(refusal(text), std::nullopt) << text;
  EXPECT_EQ(refusal("initial $fopen(\"x\");"),
            "module uses \"$fopen\", which is not simulated here");
  std::printf("%zu texts\n", texts.size());
  EXPECT_GE(texts.size(), 24u);
}

}  // namespace
}  // namespace hone::verilog
