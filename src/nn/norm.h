// Root-mean-square normalisation (Zhang and Sennrich, arXiv:1910.07467), in f32.
#pragma once

#include "nn/scope.h"

namespace hone::nn {

class RmsNorm {
 public:
  // Gemma 1 to 3 store their weights less one: `offset` is what is missing.
  RmsNorm(Scope p, int64_t size, double eps, double offset = 0);
  Value operator()(Value x) const;  // [..., size]: x / rms(x) * (weight + offset)

 private:
  Value weight_;
  double eps_;
};

}  // namespace hone::nn
