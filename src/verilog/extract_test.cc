#include "verilog/extract.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hone::verilog {
namespace {

const std::string kModule = "module m(input a, output y);\n  assign y = a;\nendmodule\n";

struct Case {
  const char* what;
  std::string answer, module;
};

TEST(Extract, FindsTheModule) {
  const std::string bare = kModule.substr(0, kModule.size() - 1);
  const std::vector<Case> cases{
      {"the trained form", answer(kModule), kModule},
      {"nothing", "", ""},
      {"prose only", "The module keyword starts a module.\nmodule names are free. endmodule", ""},
      {"bare", kModule, kModule},
      {"bare in prose", "Here it is:\n\n" + kModule + "\nIt copies a.", kModule},
      {"bare, indented", "Code:\n   " + bare, kModule},
      {"prose on the same line is not a module", "See module m(input a); endmodule", ""},
      {"fence without a language", "```\n" + kModule + "```", kModule},
      {"fence of another language", "```systemverilog\n" + kModule + "```\nDone.", kModule},
      {"module on the fence's line", "```verilog " + kModule + "```", kModule},
      {"module right after the fence", "```" + kModule + "```", kModule},
      {"fence that is cut off", "```verilog\n" + kModule, kModule},
      {"module that is cut off", "```verilog\nmodule m(input a, output y);\n  assign", ""},
      {"first block has none", "```sh\nls\n```\nthen\n```verilog\n" + kModule + "```", kModule},
      {"first of two answers", answer(kModule) + "\nor\n```verilog\nmodule n(); endmodule\n```",
       kModule},
      {"two modules in one block", answer(kModule + kModule), kModule + kModule},
      {"directive before", "```verilog\n`timescale 1ns/1ps\n" + kModule + "```", kModule},
      {"parameters", "module m #(parameter N = 2)(input a);\nendmodule",
       "module m #(parameter N = 2)(input a);\nendmodule\n"},
      {"no ports", "module m;\nendmodule : m", "module m;\nendmodule\n"},
      {"names that contain the words", "module_a b(\nendmodules\n", ""},
      {"end before the start", "endmodule\nmodule m(", ""},
      {"empty fences", "``````", ""},
      {"half a fence", "``" + kModule, kModule.substr(kModule.size())},
  };
  for (const Case& c : cases) EXPECT_EQ(extract_module(c.answer), c.module) << c.what;
  std::printf("%zu cases\n", cases.size());
  EXPECT_GE(cases.size(), 23u);
}

TEST(Extract, IsLinearOnHostileText) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "```module \n";
  EXPECT_EQ(extract_module(text), "");
}

}  // namespace
}  // namespace hone::verilog
