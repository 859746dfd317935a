#include "nn/dynamic_map.h"

#include <algorithm>
#include <cmath>

namespace hone::nn {

// The middles of 2^i (with a sign) or 2^(i+1) equal parts of [0.1, 1], times 10^(i-6), for i of 0
// to 6; and 0 and 1. In f32 and with the fused additions of PyTorch's linspace, since the codes are
// to be the same.
std::array<float, 256> dynamic_map(bool with_sign) {
  std::array<float, 256> map{0.0F, 1.0F};
  size_t n = 2;
  for (int i = 0; i < 7; ++i) {
    const int parts = 1 << (with_sign ? i : i + 1);
    const float step = (1.0F - 0.1F) / static_cast<float>(parts);
    auto bound = [&](int k) {
      return k < (parts + 1) / 2 ? std::fma(step, static_cast<float>(k), 0.1F)
                                 : std::fma(-step, static_cast<float>(parts - k), 1.0F);
    };
    const auto decade = static_cast<float>(std::pow(10.0, i - 6));
    for (int k = 0; k < parts; ++k) {
      const float entry = decade * ((bound(k) + bound(k + 1)) / 2.0F);
      map[n++] = entry;
      if (with_sign) map[n++] = -entry;
    }
  }
  std::ranges::sort(map);
  return map;
}

}  // namespace hone::nn
