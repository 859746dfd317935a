// Emission of an operation that is its body, or a kernel of the device.
#pragma once

#include "ir/emit.h"

namespace hone {

// A custom call of `kernel` with n's numeric attributes where the device has it, else the
// statements of n's body. One result.
std::vector<std::string> emit_kernel_or_body(const Node& n, std::string_view kernel, Args args,
                                             Emitter& e);

}  // namespace hone
