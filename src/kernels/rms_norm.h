// y[r, i] = x[r, i] / sqrt(mean over i of x[r, i]^2 + eps) * weight[i]
//
// In f32 throughout. x and y are dense [rows, n], weight is [n]; y may be x.
#pragma once

#include <cstdint>

namespace hone::kernels {

// On the calling thread, by the widest vectors this CPU has.
void rms_norm(const float* x, const float* weight, float eps, int64_t rows, int64_t n, float* y);

}  // namespace hone::kernels
