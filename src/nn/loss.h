// What the losses are made from.
#pragma once

#include "ir/graph.h"

namespace hone::nn {

// log softmax(logits)[label] of each row: logits f32 [r, vocab], labels i32 [r]; f32 [r].
Value log_probability(Value logits, Value labels);

}  // namespace hone::nn
