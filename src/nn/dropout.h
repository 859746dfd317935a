// Dropout from a key: the same key drops the same elements on every device.
#pragma once

#include "ir/graph.h"

namespace hone::nn {

// Another key, u64 [2], for use number `n` of this one.
Value fold_in(Value key, int64_t n);

// Zeroes each element with probability `rate` and scales the rest by 1 / (1 - rate).
Value dropout(Value x, double rate, Value key);

}  // namespace hone::nn
