#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/ops.h"

namespace hone::nn {

std::vector<double> rope_frequencies(int64_t head_dim, double theta) {
  std::vector<double> f;
  for (int64_t i = 0; i < head_dim / 2; ++i)
    f.push_back(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim)));
  return f;
}

std::vector<double> partial(std::vector<double> frequencies, double share) {
  const auto turning = static_cast<size_t>(share * static_cast<double>(frequencies.size()));
  for (size_t i = turning; i < frequencies.size(); ++i) frequencies[i] = 0;
  return frequencies;
}

std::vector<double> scaled(std::vector<double> frequencies, const Llama3Scaling& s) {
  const double original = static_cast<double>(s.original_max_position_embeddings);
  for (double& f : frequencies) {
    const double turns = original * f / (2.0 * std::numbers::pi);  // within the original context
    const double blend = (turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
    const double keep = std::clamp(blend, 0.0, 1.0);
    f *= keep + (1.0 - keep) / s.factor;
  }
  return frequencies;
}

Rope::Rope(Value positions, const std::vector<double>& frequencies) {
  const int64_t half = static_cast<int64_t>(frequencies.size());
  const Dims dims{positions.dim(0), positions.dim(1), half};
  const Value at = broadcast(convert(positions, DType::kF32), dims, {0, 1});
  const Value per_position = literal(*positions.graph, {DType::kF32, {half}}, frequencies);
  const Value angle = at * broadcast(per_position, dims, {2});
  cos = hone::cos(angle);
  sin = hone::sin(angle);
}

Value Rope::operator()(Value x) const {
  const int64_t half = x.dim(3) / 2;
  const Dims dims{x.dim(0), x.dim(1), x.dim(2), half};
  const Value wide = convert(x, DType::kF32);
  const Value a = slice(wide, 3, 0, half), b = slice(wide, 3, half, 2 * half);
  const Value c = broadcast(cos, dims, {0, 1, 3}), s = broadcast(sin, dims, {0, 1, 3});
  return convert(concat({a * c - b * s, b * c + a * s}, 3), x.dtype());
}

}  // namespace hone::nn
