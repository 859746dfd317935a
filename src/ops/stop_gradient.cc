// x, but the backward walk ends here.
#include "ir/text.h"
#include "ops/ops.h"

namespace hone {
namespace {

// StableHLO has no identity; a reshape to the same shape is one, and the compiler drops it.
std::string emit(const Node& n, Args args) { return "stablehlo.reshape " + args[0] + signature(n); }

}  // namespace

extern const Op kStopGradient{"stop_gradient", same_type, emit};
Value stop_gradient(Value x) { return apply(kStopGradient, {x}); }

}  // namespace hone
