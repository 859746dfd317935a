// Blocks of 32: value = scale x code, or scale x code + minimum.
//
// The low nibbles of the 16 code bytes are elements 0..15 and the high ones 16..31; a fifth bit,
// where there is one, is bit i of a 32-bit word for element i.
#include "ckpt/cursor.h"
#include "ckpt/dequant_blocks.h"
#include "ckpt/half.h"

namespace hone::ckpt {
namespace {

constexpr int kHalf = 16;

float half_at(const std::byte* at) { return f16_to_f32(load<uint16_t>(at)); }

}  // namespace

void q4_0_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 18, out += 2 * kHalf) {
    const float scale = half_at(blocks);
    for (int i = 0; i < kHalf; ++i) {
      const auto codes = load<uint8_t>(blocks + 2 + i);
      out[i] = static_cast<float>((codes & 15) - 8) * scale;
      out[i + kHalf] = static_cast<float>((codes >> 4) - 8) * scale;
    }
  }
}

void q4_1_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 20, out += 2 * kHalf) {
    const float scale = half_at(blocks), minimum = half_at(blocks + 2);
    for (int i = 0; i < kHalf; ++i) {
      const auto codes = load<uint8_t>(blocks + 4 + i);
      out[i] = static_cast<float>(codes & 15) * scale + minimum;
      out[i + kHalf] = static_cast<float>(codes >> 4) * scale + minimum;
    }
  }
}

void q5_0_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 22, out += 2 * kHalf) {
    const float scale = half_at(blocks);
    const auto fifth = load<uint32_t>(blocks + 2);
    for (int i = 0; i < kHalf; ++i) {
      const auto codes = load<uint8_t>(blocks + 6 + i);
      const int low = (codes & 15) | static_cast<int>((fifth >> i & 1) << 4);
      const int high = (codes >> 4) | static_cast<int>((fifth >> (i + kHalf) & 1) << 4);
      out[i] = static_cast<float>(low - 16) * scale;
      out[i + kHalf] = static_cast<float>(high - 16) * scale;
    }
  }
}

void q5_1_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 24, out += 2 * kHalf) {
    const float scale = half_at(blocks), minimum = half_at(blocks + 2);
    const auto fifth = load<uint32_t>(blocks + 4);
    for (int i = 0; i < kHalf; ++i) {
      const auto codes = load<uint8_t>(blocks + 8 + i);
      const int low = (codes & 15) | static_cast<int>((fifth >> i & 1) << 4);
      const int high = (codes >> 4) | static_cast<int>((fifth >> (i + kHalf) & 1) << 4);
      out[i] = static_cast<float>(low) * scale + minimum;
      out[i + kHalf] = static_cast<float>(high) * scale + minimum;
    }
  }
}

void q8_0_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 34, out += 2 * kHalf) {
    const float scale = half_at(blocks);
    for (int i = 0; i < 2 * kHalf; ++i)
      out[i] = static_cast<float>(load<int8_t>(blocks + 2 + i)) * scale;
  }
}

}  // namespace hone::ckpt
