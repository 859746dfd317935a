#include "nn/nf4.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "nn/dynamic_map.h"

namespace hone::nn {
namespace {

constexpr float kSmallestAbsmax = 1e-38F;

float largest_magnitude(std::span<const float> values) {
  float m = 0;
  for (float v : values) m = std::max(m, std::abs(v));
  return m;
}

template <size_t n>
std::array<float, n - 1> midpoints(const std::array<float, n>& values) {
  std::array<float, n - 1> between;
  for (size_t i = 0; i + 1 < n; ++i) between[i] = (values[i] + values[i + 1]) / 2;
  return between;
}

// The code of the nearest value; a tie goes down.
template <size_t n>
uint8_t nearest(const std::array<float, n>& midpoints, float v) {
  return static_cast<uint8_t>(std::ranges::lower_bound(midpoints, v) - midpoints.begin());
}

// The mean in the order in which PyTorch adds floats on a CPU (one thread, vectors of eight): four
// rows of vectors side by side, in a cascade of four levels.
float torch_mean(std::span<const float> x) {
  using Row = std::array<float, 32>;
  auto add = [](Row& to, const Row& from) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  const size_t rows = x.size() / 32;
  const size_t log_rows = rows > 1 ? static_cast<size_t>(std::bit_width(rows - 1)) : 0;
  const size_t power = std::max<size_t>(4, log_rows / 4), step = size_t{1} << power;
  std::array<Row, 4> sums{};
  for (size_t r = 0; r < rows;) {
    Row row;
    std::ranges::copy(x.subspan(r * 32, 32), row.begin());
    add(sums[0], row);
    ++r;
    if (r % step != 0) continue;
    for (size_t level = 1; level < sums.size(); ++level) {
      add(sums[level], sums[level - 1]);
      sums[level - 1] = {};
      if ((r & ((step - 1) << (level * power))) != 0) break;
    }
  }
  for (size_t level = 1; level < sums.size(); ++level) add(sums[0], sums[level]);
  std::span<float, 32> total = sums[0];
  const size_t vectors = x.size() / 8 * 8;
  for (size_t i = rows * 32; i < vectors; ++i) total[i % 8] += x[i];
  for (size_t i = 8; i < 32; ++i) total[i % 8] += total[i];
  float sum = 0;
  for (size_t i = vectors; i < x.size(); ++i) sum += x[i];
  for (size_t i = 0; i < 8; ++i) sum += total[i];
  return sum / static_cast<float>(x.size());
}

// The code of a scale in [-1, 1]. bitsandbytes looks it up in 65536 steps, so that near 0 it is not
// always the nearest.
uint8_t scale_code(float v) {
  static const auto codes = [] {
    const auto bounds = midpoints(dynamic_map(true));
    std::vector<uint8_t> table(65536);
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = nearest(bounds, -1.0F + 2.0F * static_cast<float>(i) / 65535.0F);
    return table;
  }();
  const float at = std::fma((std::clamp(v, -1.0F, 1.0F) + 1.0F) * 0.5F, 65535.0F, 0.5F);
  return codes[static_cast<uint16_t>(at)];
}

void quantise_scales(std::vector<float> scales, Nf4& to) {
  to.offset = torch_mean(scales);
  for (float& s : scales) s -= to.offset;
  for (size_t i = 0; i < scales.size(); i += kNf4ScaleGroup) {
    const auto group =
        std::span(scales).subspan(i, std::min<size_t>(kNf4ScaleGroup, scales.size() - i));
    const float largest = to.absmax2.emplace_back(largest_magnitude(group));
    for (float s : group)
      to.absmax.push_back(largest == 0 ? uint8_t{0} : scale_code(s * (1.0F / largest)));
  }
}

}  // namespace

const std::array<float, 16> kNf4Values = {
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

Nf4 quantise_nf4(std::span<const float> values) {
  static const auto bounds = midpoints(kNf4Values);
  Nf4 q{std::vector<uint8_t>((values.size() + 1) / 2), {}, {}, 0};
  std::vector<float> scales;
  for (size_t i = 0; i < values.size(); i += kNf4Block) {
    const auto block = values.subspan(i, std::min<size_t>(kNf4Block, values.size() - i));
    const bool whole = block.size() == kNf4Block;
    const float absmax = largest_magnitude(block), divisor = std::max(absmax, kSmallestAbsmax);
    scales.push_back(whole ? absmax : divisor);
    for (size_t j = 0; j < block.size(); ++j) {
      const float v = whole ? block[j] * (1.0F / divisor) : block[j] / divisor;
      const uint8_t code = nearest(bounds, std::clamp(v, -1.0F, 1.0F));
      q.codes[(i + j) / 2] |= static_cast<uint8_t>((i + j) % 2 == 0 ? code << 4 : code);
    }
  }
  if (values.size() % 2 != 0) q.codes.back() |= nearest(bounds, 0.0F);  // a zero fills the byte
  quantise_scales(std::move(scales), q);
  return q;
}

}  // namespace hone::nn
