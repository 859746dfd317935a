// Qwen 3's attention, of its dense sizes and of its mixtures of experts: queries and keys are
// normalised by head.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension
#pragma once

#include <cmath>

#include "models/decoder.h"

namespace hone {

struct Qwen3Attention {
  DecoderConfig c;
  size_t layer;
  Projections p;
  nn::RmsNorm q_norm, k_norm;

  Qwen3Attention(nn::Scope scope, const DecoderConfig& config, size_t index)
      : c(config),
        layer(index),
        p(scope, c),
        q_norm(scope / "q_norm", c.head_dim, c.eps),
        k_norm(scope / "k_norm", c.head_dim, c.eps) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const nn::Rope& rope = ctx.rope(c.rope);
    const Value queries = rope(q_norm(split_heads(p.q(x), c.heads)));
    const Value keys = rope(k_norm(split_heads(p.k(x), c.kv_heads)));
    const Value values = split_heads(p.v(x), c.kv_heads);
    return p.o(attend(queries, keys, values,
                      {.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim))}, ctx, layer));
  }
};

}  // namespace hone
