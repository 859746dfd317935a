#include "nn/norm.h"

#include "ops/ops.h"

namespace hone::nn {
namespace {

Value normalise(Value x, Value weight, double eps) {
  const Value scale = rsqrt(mean_last(x * x) + eps);
  return x * spread_last(scale, x) * spread(weight, x, {x.rank() - 1});
}

}  // namespace

RmsNorm::RmsNorm(Scope p, int64_t size, double eps, double offset)
    : weight_(p.weight({{"embed", size}})), eps_(eps) {
  if (offset != 0) weight_ = convert(weight_, DType::kF32) + offset;
}

Value RmsNorm::operator()(Value x) const {
  const Value y = fused("hone_rms_norm", {convert(x, DType::kF32), convert(weight_, DType::kF32)},
                        {{"eps", eps_}},
                        [eps = eps_](const Values& in) { return normalise(in[0], in[1], eps); });
  return convert(y, x.dtype());
}

}  // namespace hone::nn
