#include "kernels/kernels.h"

namespace hone::kernels {

extern const Kernel kGroupedMatmul, kGroupedOuter, kRmsNorm;  // NAME_ffi.cc

std::span<const Kernel> kernels() {
  static const Kernel kAll[] = {kGroupedMatmul, kGroupedOuter, kRmsNorm};
  return kAll;
}

}  // namespace hone::kernels
