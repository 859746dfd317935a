#include "kernels/kernels.h"

namespace hone::kernels {

extern const Kernel kRmsNorm;  // rms_norm_ffi.cc

std::span<const Kernel> kernels() {
  static const Kernel kAll[] = {kRmsNorm};
  return kAll;
}

}  // namespace hone::kernels
