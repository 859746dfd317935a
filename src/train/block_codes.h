// Arrays kept in 8 bits: blocks of 256 elements, each with its largest magnitude, and an element's
// share of that as the nearest entry of a nn::dynamic_map() (Dettmers et al., arXiv:2110.02861).
#pragma once

#include "ir/graph.h"

namespace hone::train {

constexpr int64_t kCodeBlock = 256;

struct BlockCodes {
  Value codes;    // u8, of the array's shape
  Value largest;  // f32 [blocks]
};

int64_t block_count(const Type& array);

// `map` is a dynamic_map() as f32 [256]. The nearest entry is chosen, the lower of two as near.
BlockCodes encode(Value array, Value map);
Value decode(const BlockCodes& codes, Value map);

}  // namespace hone::train
