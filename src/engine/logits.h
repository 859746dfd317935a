// The logits of every position of one sequence: what a reference implementation is compared with.
#pragma once

#include <span>
#include <vector>

#include "engine/model.h"

namespace hone::engine {

// f32 [tokens, vocab], row-major. Throws ConfigError when a token is no token of the model.
std::vector<float> logits(const Model& model, std::span<const int32_t> tokens);

}  // namespace hone::engine
