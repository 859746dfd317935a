// DType, Type and enumerators in PJRT's terms; internal to src/pjrt.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "base/type.h"
#include "pjrt_c_api.h"

namespace hone::pjrt {

// The number of an enumerator that a plugin wrote: a newer one may have some that our header, and
// so the type, does not.
template <class Enum>
int number_of(const Enum& written) {
  int number;
  static_assert(sizeof number == sizeof written);
  std::memcpy(&number, &written, sizeof number);
  return number;
}

PJRT_Buffer_Type to_pjrt(DType t);

// Throws Error when DType has no such element type.
Type from_pjrt(int element, std::span<const int64_t> dims);

}  // namespace hone::pjrt
