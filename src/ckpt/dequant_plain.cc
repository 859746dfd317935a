#include <cstring>

#include "ckpt/cursor.h"
#include "ckpt/dequant_blocks.h"
#include "ckpt/half.h"

namespace hone::ckpt {

void f32_to_f32(const std::byte* blocks, int64_t count, float* out) {
  std::memcpy(out, blocks, static_cast<size_t>(count) * sizeof(float));
}

void f16_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = f16_to_f32(load<uint16_t>(blocks + 2 * i));
}

void bf16_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = bf16_to_f32(load<uint16_t>(blocks + 2 * i));
}

void f64_to_f32(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(load<double>(blocks + 8 * i));
}

}  // namespace hone::ckpt
