// Compiled once for each instruction set (hwy/foreach_target.h includes this file again for each);
// the widest one that the CPU supports is chosen at the first call.
#include <cmath>

#include "kernels/rms_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rms_norm_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hone::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

float sum_of_squares(const float* x, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  // Four sums hide the latency of the multiply-add.
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto x0 = hn::LoadU(d, x + i);
    const auto x1 = hn::LoadU(d, x + i + lanes);
    const auto x2 = hn::LoadU(d, x + i + 2 * lanes);
    const auto x3 = hn::LoadU(d, x + i + 3 * lanes);
    s0 = hn::MulAdd(x0, x0, s0);
    s1 = hn::MulAdd(x1, x1, s1);
    s2 = hn::MulAdd(x2, x2, s2);
    s3 = hn::MulAdd(x3, x3, s3);
  }
  for (; i + lanes <= n; i += lanes) {
    const auto x0 = hn::LoadU(d, x + i);
    s0 = hn::MulAdd(x0, x0, s0);
  }
  const auto all = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  float sum = hn::GetLane(hn::SumOfLanes(d, all));
  for (; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

void scale(const float* x, const float* weight, float by, size_t n, float* y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, by);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), factor), hn::LoadU(d, weight + i)), d, y + i);
  for (; i < n; ++i) y[i] = x[i] * by * weight[i];
}

void rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t n, float* y) {
  const auto width = static_cast<size_t>(n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float mean = sum_of_squares(x, width) / static_cast<float>(n);
    scale(x, weight, 1.0F / std::sqrt(mean + eps), width, y);
  }
}

}  // namespace hone::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {

HWY_EXPORT(rms_norm);

void rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(rms_norm)(x, weight, eps, rows, n, y);
}

}  // namespace hone::kernels
#endif
