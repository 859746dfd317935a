// What a module from outside may not contain, because a simulator would obey it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::verilog {

// Why the text must not be simulated, in one line; nothing when it may.
//
// Allowed by name: the system functions and tasks that compute, print or end the simulation
// ($signed, $clog2, $display, $finish, ...) and the directives `timescale and `default_nettype.
// Everything else that starts with $ or ` is refused, as are escaped identifiers, strings that do
// not end on their line, control characters, and more than 64 KiB: with these gone, comments and
// strings are what they look like, and nothing can name a file or a program.
std::optional<std::string> refusal(std::string_view module);

}  // namespace hone::verilog
