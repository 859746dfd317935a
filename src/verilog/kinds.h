// Every kind of task there is.
#pragma once

#include <span>

#include "verilog/task.h"

namespace hone::verilog {

std::span<const Kind* const> kinds();

}  // namespace hone::verilog
