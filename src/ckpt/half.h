// f16 and bf16 to f32, exactly.
#pragma once

#include <bit>
#include <cstdint>

namespace hone::ckpt {

inline float f16_to_f32(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  uint32_t bits = (magnitude << 13) + (112u << 23);  // normal: move the exponent's bias
  if (magnitude >= 0x7c00u) bits = (magnitude << 13) | 0x7f800000u;  // infinity and NaN
  if (magnitude < 0x0400u)                                           // subnormal
    bits = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  return std::bit_cast<float>(sign | bits);
}

inline float bf16_to_f32(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

}  // namespace hone::ckpt
