// Weights as f32, bf16 or f16: one array of the weight's own shape.
#include <bit>
#include <cmath>
#include <cstring>

#include "nn/store.h"

namespace hone::nn {
namespace {

template <DType T>
std::vector<Store::Part> parts(const Dims& dims) {
  return {{"", {T, dims}}};
}

Value widen(const Values& parts, const Dims&) { return parts[0]; }

float as_f32(float v) { return v; }

// To nearest, ties to even; a NaN stays one.
uint16_t as_bf16(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  if (std::isnan(v)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

uint16_t as_f16(float v) { return std::bit_cast<uint16_t>(static_cast<_Float16>(v)); }

template <auto as>
void encode(std::span<const float> values, const Dims&, std::span<const std::span<std::byte>> out) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto element = as(values[i]);
    std::memcpy(&out[0][i * sizeof element], &element, sizeof element);
  }
}

}  // namespace

extern const Store kStoreF32{"f32", parts<DType::kF32>, encode<as_f32>, widen};
extern const Store kStoreBF16{"bf16", parts<DType::kBF16>, encode<as_bf16>, widen};
extern const Store kStoreF16{"f16", parts<DType::kF16>, encode<as_f16>, widen};

}  // namespace hone::nn
