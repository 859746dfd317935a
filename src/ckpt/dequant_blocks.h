// The functions behind the table of dequant.cc, one a format; see dequant.h for the contract.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::ckpt {

// dequant_plain.cc: one element a block.
void f32_to_f32(const std::byte* blocks, int64_t count, float* out);
void f16_to_f32(const std::byte* blocks, int64_t count, float* out);
void bf16_to_f32(const std::byte* blocks, int64_t count, float* out);
void f64_to_f32(const std::byte* blocks, int64_t count, float* out);

// dequant_legacy.cc: 32 elements a block, one scale (and one minimum).
void q4_0_to_f32(const std::byte* blocks, int64_t count, float* out);
void q4_1_to_f32(const std::byte* blocks, int64_t count, float* out);
void q5_0_to_f32(const std::byte* blocks, int64_t count, float* out);
void q5_1_to_f32(const std::byte* blocks, int64_t count, float* out);
void q8_0_to_f32(const std::byte* blocks, int64_t count, float* out);

// dequant_k.cc: 256 elements a block in sub-blocks of 16 or 32 with quantised scales.
void q2_k_to_f32(const std::byte* blocks, int64_t count, float* out);
void q3_k_to_f32(const std::byte* blocks, int64_t count, float* out);
void q4_k_to_f32(const std::byte* blocks, int64_t count, float* out);
void q5_k_to_f32(const std::byte* blocks, int64_t count, float* out);
void q6_k_to_f32(const std::byte* blocks, int64_t count, float* out);

}  // namespace hone::ckpt
