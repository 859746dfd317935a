// DType and Type in PJRT's terms; internal to src/pjrt.
#pragma once

#include <cstdint>
#include <span>

#include "base/type.h"
#include "pjrt_c_api.h"

namespace hone::pjrt {

PJRT_Buffer_Type to_pjrt(DType t);

// Throws Error when DType has no such element type.
Type from_pjrt(PJRT_Buffer_Type element, std::span<const int64_t> dims);

}  // namespace hone::pjrt
