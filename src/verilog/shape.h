// The shape of a module: its text with every name replaced by its order of appearance.
//
// Two modules of one shape differ in names and white space only, so a held-out task whose shape
// was trained on could be answered by copying.
#pragma once

#include <string>
#include <string_view>

namespace hone::verilog {

// "module m(input a, output y);" -> "module #0(input #1,output #2);". Keywords and numbers stay.
std::string shape(std::string_view module);

}  // namespace hone::verilog
