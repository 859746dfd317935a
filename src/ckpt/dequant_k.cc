// The k-formats: 256 elements a block, in sub-blocks of 16 or 32 whose scales are themselves
// small integers times one f16 of the block. Offsets below are bytes from the block's start.
#include "ckpt/cursor.h"
#include "ckpt/dequant_blocks.h"
#include "ckpt/half.h"

namespace hone::ckpt {
namespace {

constexpr int kBlock = 256;

float half_at(const std::byte* at) { return f16_to_f32(load<uint16_t>(at)); }
int u8(const std::byte* at) { return load<uint8_t>(at); }

// Q3_K: sixteen 6-bit scales in 12 bytes: the low nibbles of bytes 0..7, then their high nibbles,
// then two more bits for each from bytes 8..11.
int q3_scale(const std::byte* packed, int i) {
  const int low = i < 8 ? u8(packed + i) & 15 : u8(packed + i - 8) >> 4;
  const int high = u8(packed + 8 + i % 4) >> (2 * (i / 4)) & 3;
  return (low | high << 4) - 32;
}

struct ScaleMin {
  int scale, minimum;
};

// Q4_K and Q5_K: eight pairs of 6 bits in 12 bytes. Pairs 0..3 fill the low 6 bits of bytes 0..3
// (scales) and 4..7 (minima); pairs 4..7 keep their low nibbles in bytes 8..11 and their upper two
// bits on top of the bytes of pairs 0..3.
ScaleMin q4_scale(const std::byte* packed, int i) {
  if (i < 4) return {u8(packed + i) & 63, u8(packed + i + 4) & 63};
  const int nibbles = u8(packed + i + 4);
  return {(nibbles & 15) | (u8(packed + i - 4) >> 6) << 4, (nibbles >> 4) | (u8(packed + i) >> 6)
                                                                                << 4};
}

}  // namespace

// 16 scales (low nibble) and minima (high), 64 code bytes, f16 scale at 80, f16 minimum at 82.
// 128 elements share 32 code bytes: sub-blocks 2k and 2k+1 are bits 2k..2k+1 of their two halves.
void q2_k_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 84, out += kBlock) {
    const float scale = half_at(blocks + 80), minimum = half_at(blocks + 82);
    for (int sub = 0; sub < 16; ++sub) {
      const std::byte* codes = blocks + 16 + 32 * (sub / 8) + 16 * (sub % 2);
      const int shift = 2 * (sub % 8 / 2), packed = u8(blocks + sub);
      const float step = scale * static_cast<float>(packed & 15);
      const float base = minimum * static_cast<float>(packed >> 4);
      for (int i = 0; i < 16; ++i)
        out[16 * sub + i] = step * static_cast<float>(u8(codes + i) >> shift & 3) - base;
    }
  }
}

// 32 bytes of third bits, 64 code bytes as in Q2_K, 12 bytes of scales at 96, f16 scale at 108.
// Bit k of the third-bit bytes belongs to sub-blocks 2k and 2k+1; where it is 0, 4 is taken off.
void q3_k_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 110, out += kBlock) {
    const float scale = half_at(blocks + 108);
    for (int sub = 0; sub < 16; ++sub) {
      const std::byte* third = blocks + 16 * (sub % 2);
      const std::byte* codes = blocks + 32 + 32 * (sub / 8) + 16 * (sub % 2);
      const int shift = 2 * (sub % 8 / 2), bit = sub / 2;
      const float step = scale * static_cast<float>(q3_scale(blocks + 96, sub));
      for (int i = 0; i < 16; ++i) {
        const int code = (u8(codes + i) >> shift & 3) + 4 * (u8(third + i) >> bit & 1) - 4;
        out[16 * sub + i] = step * static_cast<float>(code);
      }
    }
  }
}

// f16 scale, f16 minimum, 12 bytes of scales at 4, 128 code bytes at 16: sub-blocks 2k and 2k+1 of
// 32 elements are the low and the high nibbles of bytes 32k..32k+31.
void q4_k_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 144, out += kBlock) {
    const float scale = half_at(blocks), minimum = half_at(blocks + 2);
    for (int sub = 0; sub < 8; ++sub) {
      const std::byte* codes = blocks + 16 + 32 * (sub / 2);
      const int shift = 4 * (sub % 2);
      const ScaleMin packed = q4_scale(blocks + 4, sub);
      const float step = scale * static_cast<float>(packed.scale);
      const float base = minimum * static_cast<float>(packed.minimum);
      for (int i = 0; i < 32; ++i)
        out[32 * sub + i] = step * static_cast<float>(u8(codes + i) >> shift & 15) - base;
    }
  }
}

// As Q4_K with 32 bytes of fifth bits at 16 (bit k belongs to sub-block k) and the codes at 48.
void q5_k_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 176, out += kBlock) {
    const float scale = half_at(blocks), minimum = half_at(blocks + 2);
    for (int sub = 0; sub < 8; ++sub) {
      const std::byte* fifth = blocks + 16;
      const std::byte* codes = blocks + 48 + 32 * (sub / 2);
      const int shift = 4 * (sub % 2);
      const ScaleMin packed = q4_scale(blocks + 4, sub);
      const float step = scale * static_cast<float>(packed.scale);
      const float base = minimum * static_cast<float>(packed.minimum);
      for (int i = 0; i < 32; ++i) {
        const int code = (u8(codes + i) >> shift & 15) | (u8(fifth + i) >> sub & 1) << 4;
        out[32 * sub + i] = step * static_cast<float>(code) - base;
      }
    }
  }
}

// 128 bytes of low nibbles, 64 of upper bit pairs, 16 signed scales at 192, f16 scale at 208.
// Runs of 32 elements: of each 128, runs 0 and 1 are the low nibbles of bytes 0..31 and 32..63,
// runs 2 and 3 the high ones; the upper bits of run r are bits 2r..2r+1 of the 32 bytes.
void q6_k_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, blocks += 210, out += kBlock) {
    const float scale = half_at(blocks + 208);
    for (int sub = 0; sub < 16; ++sub) {
      const int half = sub / 8, run = sub % 8 / 2, odd = 16 * (sub % 2);
      const std::byte* low = blocks + 64 * half + 32 * (run % 2) + odd;
      const std::byte* high = blocks + 128 + 32 * half + odd;
      const int low_shift = 4 * (run / 2), high_shift = 2 * run;
      const float step = scale * static_cast<float>(load<int8_t>(blocks + 192 + sub));
      for (int i = 0; i < 16; ++i) {
        const int code = (u8(low + i) >> low_shift & 15) | (u8(high + i) >> high_shift & 3) << 4;
        out[16 * sub + i] = step * static_cast<float>(code - 32);
      }
    }
  }
}

}  // namespace hone::ckpt
