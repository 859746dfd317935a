// Weights as 8-bit integers, with the largest magnitude of each row: w = code absmax / 127, in the
// order of bitsandbytes' int8_vectorwise_quant and int8_vectorwise_dequant. Activations stay
// floats.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/store.h"
#include "ops/ops.h"

namespace hone::nn {
namespace {

constexpr double kStep = 1.0 / 127;

std::vector<Store::Part> parts(const Dims& dims) {
  return {{".codes", {DType::kS8, dims}}, {".absmax", {DType::kF32, {dims[0]}}}};
}

void encode(std::span<const float> values, const Dims& dims,
            std::span<const std::span<std::byte>> out) {
  const size_t rows = static_cast<size_t>(dims[0]), columns = values.size() / rows;
  for (size_t r = 0; r < rows; ++r) {
    const std::span<const float> row = values.subspan(r * columns, columns);
    float absmax = 0;
    for (float v : row) absmax = std::max(absmax, std::abs(v));
    const float scale = absmax > 0 ? 127.0F / absmax : 0.0F;
    for (size_t c = 0; c < columns; ++c)
      out[0][r * columns + c] =
          static_cast<std::byte>(static_cast<int8_t>(std::nearbyint(row[c] * scale)));
    std::memcpy(&out[1][r * sizeof absmax], &absmax, sizeof absmax);
  }
}

Value widen(const Values& parts, const Dims& dims) {
  return stop_gradient(convert(parts[0], DType::kF32) * broadcast(parts[1], dims, {0}) * kStep);
}

}  // namespace

extern const Store kStoreInt8{"int8", parts, encode, widen};

}  // namespace hone::nn
