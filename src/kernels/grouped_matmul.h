// Rows times one matrix of a stack, in tiles: the pieces of the product of rows with their own
// group's matrix. x and y are f32; a matrix is dense [n, k], in f32, bf16 or f16 as it is stored.
//
// Each element is summed in an order that depends on the width of the vectors alone: not on the
// number of rows, of tiles or of threads.
#pragma once

#include <cstdint>

namespace hone::kernels {

enum class Stored { kF32, kBF16, kF16 };

// y[r * y_stride + j] = sum over i of x[r * k + i] w[j * k + i], of `rows` rows and j < n.
void rows_times_matrix(const float* x, int64_t rows, const void* w, Stored stored, int64_t n,
                       int64_t k, float* y, int64_t y_stride);

// y[r * k + j] = sum over i < n of x[r * n + i] w[i * k + j], of `rows` rows and first <= j < end.
void rows_times_columns(const float* x, int64_t rows, const void* w, Stored stored, int64_t n,
                        int64_t k, int64_t first, int64_t end, float* y);

// z[i * k + j] = sum over `rows` rows r of a[r * n + i] b[r * k + j], of first <= i < end and j <
// k.
void sum_of_outer_products(const float* a, const float* b, int64_t rows, int64_t n, int64_t k,
                           int64_t first, int64_t end, float* z);

}  // namespace hone::kernels
