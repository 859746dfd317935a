// From a model's answer to Verilog text, and from a module to the answer that is trained.
#pragma once

#include <string>
#include <string_view>

namespace hone::verilog {

// A fenced block: "```verilog\n" module "```". The module ends with a newline.
std::string answer(std::string_view module);

// The modules of an answer: from the first `module` that opens one to the last `endmodule`, a
// newline added; "" when there is none. Looked for in the first fenced block (``` to ```, or to
// the end when it is cut off) that has one, whatever the block's language says, else in all of the
// text. "Opens one": the word at the start of its line, followed by a name and one of # ( ;.
std::string extract_module(std::string_view answer);

}  // namespace hone::verilog
