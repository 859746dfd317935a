// NF4 with double quantisation, as bitsandbytes' CPU build computes it, bit for bit
// (quantize_4bit(blocksize=64, compress_statistics=True); decision record 0113).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hone::nn {

inline constexpr int64_t kNf4Block = 64;        // values that share a scale
inline constexpr int64_t kNf4ScaleGroup = 256;  // scales that share a scale

// The 16 values of a code: quantiles of the normal distribution.
extern const std::array<float, 16> kNf4Values;

struct Nf4 {
  std::vector<uint8_t> codes;   // two values a byte, the first in the high bits
  std::vector<uint8_t> absmax;  // of each block
  std::vector<float> absmax2;   // of each group of scales, after `offset` was taken away
  float offset;                 // the scales' mean
};
Nf4 quantise_nf4(std::span<const float> values);

}  // namespace hone::nn
