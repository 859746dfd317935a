// The attention of Mistral and Mixtral: queries may see a window of keys only.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension
#pragma once

#include <cmath>

#include "models/decoder.h"

namespace hone {

struct MistralAttention {
  DecoderConfig c;
  size_t layer;
  Projections p;

  MistralAttention(nn::Scope scope, const DecoderConfig& config, size_t index)
      : c(config), layer(index), p(scope, c) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const nn::Rope& rope = ctx.rope(c.rope);
    const Value queries = rope(split_heads(p.q(x), c.heads));
    const Value keys = rope(split_heads(p.k(x), c.kv_heads));
    const Value values = split_heads(p.v(x), c.kv_heads);
    return p.o(attend(
        queries, keys, values,
        {.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim)), .window = c.window(layer)}, ctx,
        layer));
  }
};

}  // namespace hone
