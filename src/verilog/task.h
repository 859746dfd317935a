// A design task: what to build, in English; a module that does; a test bench that can tell.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace hone::verilog {

struct Task {
  std::string kind;
  std::string prompt;  // fixes the module's name, ports, widths and behaviour
  std::string module;  // one right answer: compact Verilog-2001, ends with a newline
  std::string
      testbench;  // prints "PASS hone_nonce" last, and only when every vector matched (bench.h)
};

// One parametrised kind of task: a record in a family file, listed in kinds.cc.
struct Kind {
  std::string_view name;
  // Draws widths, names, polarities and wording. The same generator state gives the same task.
  Task (*make)(Random& random);
};

}  // namespace hone::verilog
