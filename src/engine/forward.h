// The forward passes that the engine compiles, put together from a family's decoder.
#pragma once

#include "models/family.h"
#include "nn/attention.h"
#include "nn/moe.h"
#include "ops/ops.h"

namespace hone::engine {

// Embedding, every layer, the last norm: i32 [b, s] -> [b, s, hidden].
// With Remat::kBlock the backward pass keeps each layer's input alone.
Value hidden_states(const Decoder& decoder, Value tokens, const nn::Context& ctx,
                    Remat remat = Remat::kNone);

// The hidden states of whole sequences without a cache. positions and segments are i32 [b, s];
// segment 0 is padding. What the routers of experts did goes to `balance`, if there is one.
Value sequence_states(const Decoder& decoder, Value tokens, Value positions, Value segments,
                      Remat remat = Remat::kNone, nn::Balance* balance = nullptr);

}  // namespace hone::engine
