#include "train/adamw.h"

#include "ops/ops.h"

namespace hone::train {

AdamW::State AdamW::operator()(const State& now, Value gradient, Value lr, Value step) const {
  auto everywhere = [&](Value scalar) { return broadcast(scalar, now.m.dims(), {}); };
  const Value m = now.m * beta1 + gradient * (1.0 - beta1);
  const Value v = now.v * beta2 + gradient * gradient * (1.0 - beta2);
  const Value correction1 = -(power(constant_like(step, beta1), step) - 1.0);
  const Value correction2 = -(power(constant_like(step, beta2), step) - 1.0);
  const Value denominator = sqrt(v) / everywhere(sqrt(correction2)) + eps;
  const Value decayed = now.parameter * everywhere(-(lr * weight_decay - 1.0));
  return {decayed - everywhere(lr / correction1) * m / denominator, m, v};
}

Value clip_factor(Value norm, double clip) {
  if (clip <= 0) return constant_like(norm, 1.0);
  return minimum(constant_like(norm, clip) / (norm + 1e-6), constant_like(norm, 1.0));
}

}  // namespace hone::train
