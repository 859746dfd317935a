// Arrays kept in 8 bits: blocks of 256 elements, each with its largest magnitude, and an element's
// share of that as the nearest entry of a table (Dettmers et al., arXiv:2110.02861). The tables are
// those of bitsandbytes' create_dynamic_map(): seven decades, the higher the finer.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace hone::train {

constexpr int64_t kCodeBlock = 256;

struct BlockCodes {
  Value codes;    // u8, of the array's shape
  Value largest;  // f32 [blocks]
};

int64_t block_count(const Type& array);

// 256 entries, rising from -0.993 or from 0 to 1; values of f32.
std::vector<double> dynamic_map(bool with_sign);

// `map` is a dynamic_map() as f32 [256]. The nearest entry is chosen, the lower of two as near.
BlockCodes encode(Value array, Value map);
Value decode(const BlockCodes& codes, Value map);

}  // namespace hone::train
