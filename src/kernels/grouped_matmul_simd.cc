// Compiled once for each instruction set, as rms_norm_simd.cc is.
#include <algorithm>
#include <cstring>

#include "kernels/grouped_matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/grouped_matmul_simd.cc"
// Their vectors cannot be elements of an array.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hone::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vector = hn::Vec<F32>;

HWY_INLINE Vector load(const float* p) { return hn::LoadU(F32(), p); }
template <class T>
HWY_INLINE Vector load(const T* p) {
  return hn::PromoteTo(F32(), hn::LoadU(hn::Rebind<T, F32>(), p));
}

// The first `count` of a vector, zeros after them.
template <class T>
HWY_INLINE Vector load_some(const T* p, size_t count) {
  T padded[hn::MaxLanes(F32())] = {};
  std::memcpy(padded, p, count * sizeof(T));
  return load(padded);
}

// R rows of x with C rows of w.
template <size_t R, size_t C, class T>
HWY_INLINE void dots(const float* x, const T* w, size_t k, float* y, size_t y_stride) {
  const size_t lanes = hn::Lanes(F32());
  Vector sums[R][C];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(F32());
  size_t i = 0;
  for (; i + lanes <= k; i += lanes) {
    Vector columns[C];
    for (size_t c = 0; c < C; ++c) columns[c] = load(w + c * k + i);
    for (size_t r = 0; r < R; ++r) {
      const Vector mine = load(x + r * k + i);
      for (size_t c = 0; c < C; ++c) sums[r][c] = hn::MulAdd(mine, columns[c], sums[r][c]);
    }
  }
  if (i < k) {
    for (size_t r = 0; r < R; ++r) {
      const Vector mine = load_some(x + r * k + i, k - i);
      for (size_t c = 0; c < C; ++c)
        sums[r][c] = hn::MulAdd(mine, load_some(w + c * k + i, k - i), sums[r][c]);
    }
  }
  for (size_t r = 0; r < R; ++r)
    for (size_t c = 0; c < C; ++c)
      y[r * y_stride + c] = hn::GetLane(hn::SumOfLanes(F32(), sums[r][c]));
}

template <size_t C, class T>
HWY_INLINE void dots_of_all_rows(const float* x, size_t rows, const T* w, size_t k, float* y,
                                 size_t y_stride) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) dots<4, C>(x + r * k, w, k, y + r * y_stride, y_stride);
  for (; r < rows; ++r) dots<1, C>(x + r * k, w, k, y + r * y_stride, y_stride);
}

// Four by four sums are all that 32 registers hold, four by two all that 16 do.
constexpr size_t kTogether = HWY_MAX_BYTES >= 64 ? 4 : 2;

template <class T>
void times_matrix(const float* x, size_t rows, const T* w, size_t n, size_t k, float* y,
                  size_t y_stride) {
  size_t j = 0;
  if (rows == 1)  // four streams of memory at once
    for (; j + 4 <= n; j += 4) dots<1, 4>(x, w + j * k, k, y + j, y_stride);
  for (; j + kTogether <= n; j += kTogether)
    dots_of_all_rows<kTogether>(x, rows, w + j * k, k, y + j, y_stride);
  for (; j < n; ++j) dots_of_all_rows<1>(x, rows, w + j * k, k, y + j, y_stride);
}

void rows_times_matrix(const float* x, int64_t rows, const void* w, Stored stored, int64_t n,
                       int64_t k, float* y, int64_t y_stride) {
  const auto r = static_cast<size_t>(rows), outs = static_cast<size_t>(n);
  const auto width = static_cast<size_t>(k), stride = static_cast<size_t>(y_stride);
  if (stored == Stored::kF32)
    times_matrix(x, r, static_cast<const float*>(w), outs, width, y, stride);
  else if (stored == Stored::kBF16)
    times_matrix(x, r, static_cast<const hwy::bfloat16_t*>(w), outs, width, y, stride);
  else
    times_matrix(x, r, static_cast<const hwy::float16_t*>(w), outs, width, y, stride);
}

// Where the factors of an output row lie: those of row r from x + r * row, each `step` after the
// last, n of them.
struct Factors {
  size_t row, step, n;
};

// R rows of factors with `count` columns of w, at most V vectors of them; all but the last full.
template <size_t R, size_t V, class T>
HWY_INLINE void sums_of_columns(const float* x, const Factors& f, const T* w, size_t k,
                                size_t count, float* y) {
  const size_t lanes = hn::Lanes(F32());
  Vector sums[R][V];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(F32());
  const bool full = count == V * lanes;
  for (size_t i = 0; i < f.n; ++i) {
    Vector columns[V];
    for (size_t v = 0; v < V; ++v) {
      const T* at = w + i * k + v * lanes;
      columns[v] = full || v + 1 < V ? load(at) : load_some(at, count - v * lanes);
    }
    for (size_t r = 0; r < R; ++r) {
      const Vector mine = hn::Set(F32(), x[r * f.row + i * f.step]);
      for (size_t v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(mine, columns[v], sums[r][v]);
    }
  }
  for (size_t r = 0; r < R; ++r)
    for (size_t v = 0; v < V; ++v) {
      float out[hn::MaxLanes(F32())];
      hn::StoreU(sums[r][v], F32(), out);
      std::memcpy(y + r * k + v * lanes, out, std::min(lanes, count - v * lanes) * sizeof(float));
    }
}

template <size_t V, class T>
HWY_INLINE void columns_of_all_rows(const float* x, size_t rows, const Factors& f, const T* w,
                                    size_t k, size_t count, float* y) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) sums_of_columns<4, V>(x + r * f.row, f, w, k, count, y + r * k);
  for (; r < rows; ++r) sums_of_columns<1, V>(x + r * f.row, f, w, k, count, y + r * k);
}

template <class T>
void times_columns(const float* x, size_t rows, const Factors& f, const T* w, size_t k,
                   size_t first, size_t end, float* y) {
  const size_t lanes = hn::Lanes(F32());
  size_t j = first;
  for (; j + kTogether * lanes <= end; j += kTogether * lanes)
    columns_of_all_rows<kTogether>(x, rows, f, w + j, k, kTogether * lanes, y + j);
  for (; j < end; j += lanes)
    columns_of_all_rows<1>(x, rows, f, w + j, k, std::min(lanes, end - j), y + j);
}

void rows_times_columns(const float* x, int64_t rows, const void* w, Stored stored, int64_t n,
                        int64_t k, int64_t first, int64_t end, float* y) {
  const auto r = static_cast<size_t>(rows), width = static_cast<size_t>(k);
  const Factors f{.row = static_cast<size_t>(n), .step = 1, .n = static_cast<size_t>(n)};
  const auto from = static_cast<size_t>(first), to = static_cast<size_t>(end);
  if (stored == Stored::kF32)
    times_columns(x, r, f, static_cast<const float*>(w), width, from, to, y);
  else if (stored == Stored::kBF16)
    times_columns(x, r, f, static_cast<const hwy::bfloat16_t*>(w), width, from, to, y);
  else
    times_columns(x, r, f, static_cast<const hwy::float16_t*>(w), width, from, to, y);
}

void sum_of_outer_products(const float* a, const float* b, int64_t rows, int64_t n, int64_t k,
                           int64_t first, int64_t end, float* z) {
  const Factors f{.row = 1, .step = static_cast<size_t>(n), .n = static_cast<size_t>(rows)};
  const auto width = static_cast<size_t>(k);
  times_columns(a + first, static_cast<size_t>(end - first), f, b, width, 0, width, z + first * k);
}

}  // namespace hone::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {

HWY_EXPORT(rows_times_matrix);
HWY_EXPORT(rows_times_columns);
HWY_EXPORT(sum_of_outer_products);

void rows_times_matrix(const float* x, int64_t rows, const void* w, Stored stored, int64_t n,
                       int64_t k, float* y, int64_t y_stride) {
  HWY_DYNAMIC_DISPATCH(rows_times_matrix)(x, rows, w, stored, n, k, y, y_stride);
}
void rows_times_columns(const float* x, int64_t rows, const void* w, Stored stored, int64_t n,
                        int64_t k, int64_t first, int64_t end, float* y) {
  HWY_DYNAMIC_DISPATCH(rows_times_columns)(x, rows, w, stored, n, k, first, end, y);
}

void sum_of_outer_products(const float* a, const float* b, int64_t rows, int64_t n, int64_t k,
                           int64_t first, int64_t end, float* z) {
  HWY_DYNAMIC_DISPATCH(sum_of_outer_products)(a, b, rows, n, k, first, end, z);
}

}  // namespace hone::kernels
#endif
