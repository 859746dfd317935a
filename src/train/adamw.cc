#include "train/adamw.h"

#include <cmath>

#include "ops/ops.h"

namespace hone::train {

std::pair<double, double> AdamW::corrections(int64_t step) const {
  const double n = static_cast<double>(step);
  return {1.0 - std::pow(beta1, n), 1.0 - std::pow(beta2, n)};
}

AdamW::State AdamW::operator()(const State& now, Value gradient, Value lr, Value correction1,
                               Value correction2) const {
  auto everywhere = [&](Value scalar) { return broadcast(scalar, now.m.dims(), {}); };
  const Value m = now.m * beta1 + gradient * (1.0 - beta1);
  const Value v = now.v * beta2 + gradient * gradient * (1.0 - beta2);
  const Value denominator = sqrt(v) / everywhere(sqrt(correction2)) + eps;
  const Value decayed = now.parameter * everywhere(-(lr * weight_decay - 1.0));
  return {decayed - everywhere(lr / correction1) * m / denominator, m, v};
}

Value clip_factor(Value norm, double clip) {
  if (clip <= 0) return constant_like(norm, 1.0);
  return minimum(constant_like(norm, clip) / (norm + 1e-6), constant_like(norm, 1.0));
}

}  // namespace hone::train
