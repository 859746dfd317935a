// Cross-entropy over the positions that are targets.
#pragma once

#include "ir/graph.h"

namespace hone::nn {

// Sum over rows of weight * -log softmax(logits)[label]: logits f32 [r, vocab], labels i32 [r],
// weights f32 [r]. Divide by the weights' sum over the whole global batch, not here.
Value cross_entropy(Value logits, Value labels, Value weights);

}  // namespace hone::nn
