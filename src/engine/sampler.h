// The next token from one row of logits.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace hone::engine {

// In this order: temperature, then top-k, top-p, min-p, each over what the one before left.
struct Sampling {
  double temperature = 0.0;  // 0: the most likely token, and nothing below matters
  int64_t top_k = 0;         // 0: all
  double top_p = 1.0;        // the fewest tokens whose probabilities reach top_p
  double min_p = 0.0;        // at least min_p times the most likely token's probability
  uint64_t seed = 0;
};

// Index into logits. Ties go to the lower index. Throws Error when a logit is NaN.
int32_t sample(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace hone::engine
