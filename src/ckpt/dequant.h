// The number formats of GGUF tensors, and how each becomes f32.
//
// A tensor's row is cut into blocks of a fixed number of elements; a block is a fixed number of
// bytes. Layouts: ggml's block_* structures (ggml-common.h); values equal its dequantize_row_*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hone::ckpt {

// The numbers are ggml's own (enum ggml_type); the list holds what we read and nothing else.
// NOLINTBEGIN(readability-identifier-naming): and so are the names.
enum class GgmlType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kF64 = 28,
  kBF16 = 30,
};
// NOLINTEND(readability-identifier-naming)

struct GgmlFormat {
  GgmlType type;
  std::string_view name;   // "Q4_K"
  int64_t block_elements;  // a row's length is a multiple of it
  size_t block_bytes;
  void (*to_f32)(const std::byte* blocks, int64_t count, float* out);  // any alignment of blocks
};

// Every format that we read, in the order of ggml's numbers.
std::span<const GgmlFormat> ggml_formats();

// The record of ggml's type number, or null when we do not read it.
const GgmlFormat* find_format(uint32_t number);

const GgmlFormat& format_of(GgmlType type);

// Dequantises whole blocks: bytes.size() / block_bytes x block_elements == out.size().
void dequantise(GgmlType type, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace hone::ckpt
