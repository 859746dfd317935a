#include "ckpt/dequant.h"

#include <algorithm>

#include "base/check.h"
#include "ckpt/dequant_blocks.h"

namespace hone::ckpt {
namespace {

constexpr GgmlFormat kFormats[] = {
    {GgmlType::kF32, "F32", 1, 4, f32_to_f32},
    {GgmlType::kF16, "F16", 1, 2, f16_to_f32},
    {GgmlType::kQ4_0, "Q4_0", 32, 18, q4_0_to_f32},
    {GgmlType::kQ4_1, "Q4_1", 32, 20, q4_1_to_f32},
    {GgmlType::kQ5_0, "Q5_0", 32, 22, q5_0_to_f32},
    {GgmlType::kQ5_1, "Q5_1", 32, 24, q5_1_to_f32},
    {GgmlType::kQ8_0, "Q8_0", 32, 34, q8_0_to_f32},
    {GgmlType::kQ2_K, "Q2_K", 256, 84, q2_k_to_f32},
    {GgmlType::kQ3_K, "Q3_K", 256, 110, q3_k_to_f32},
    {GgmlType::kQ4_K, "Q4_K", 256, 144, q4_k_to_f32},
    {GgmlType::kQ5_K, "Q5_K", 256, 176, q5_k_to_f32},
    {GgmlType::kQ6_K, "Q6_K", 256, 210, q6_k_to_f32},
    {GgmlType::kF64, "F64", 1, 8, f64_to_f32},
    {GgmlType::kBF16, "BF16", 1, 2, bf16_to_f32},
};

}  // namespace

std::span<const GgmlFormat> ggml_formats() { return kFormats; }

const GgmlFormat* find_format(uint32_t number) {
  const auto at = std::ranges::find(kFormats, static_cast<GgmlType>(number), &GgmlFormat::type);
  return at != std::end(kFormats) ? at : nullptr;
}

const GgmlFormat& format_of(GgmlType type) {
  const GgmlFormat* format = find_format(static_cast<uint32_t>(type));
  check(format != nullptr, "no record for ggml type {}", static_cast<uint32_t>(type));
  return *format;
}

void dequantise(GgmlType type, std::span<const std::byte> bytes, std::span<float> out) {
  const GgmlFormat& format = format_of(type);
  const size_t blocks = bytes.size() / format.block_bytes;
  check(bytes.size() == blocks * format.block_bytes &&
            out.size() == blocks * static_cast<size_t>(format.block_elements),
        "{} bytes of {} do not hold {} elements", bytes.size(), format.name, out.size());
  format.to_f32(bytes.data(), static_cast<int64_t>(blocks), out.data());
}

}  // namespace hone::ckpt
