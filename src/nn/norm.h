// Root-mean-square normalisation (Zhang and Sennrich, arXiv:1910.07467), in f32.
#pragma once

#include "nn/scope.h"

namespace hone::nn {

class RmsNorm {
 public:
  RmsNorm(Scope p, int64_t size, double eps) : weight_(p.weight({{"embed", size}})), eps_(eps) {}
  Value operator()(Value x) const;  // [..., size]: x / rms(x) * weight

 private:
  Value weight_;
  double eps_;
};

}  // namespace hone::nn
