// bitsandbytes' map of 8-bit values (create_dynamic_map; arXiv:1511.04561): seven decades, the
// higher the finer.
#pragma once

#include <array>

namespace hone::nn {

// Rising from -0.993 or from 0 to 1.
std::array<float, 256> dynamic_map(bool with_sign);

}  // namespace hone::nn
