#include "engine/forward.h"

namespace hone::engine {

Value hidden_states(const Decoder& decoder, Value tokens, const nn::Context& ctx, Remat remat) {
  Value x = decoder.embed(tokens);
  for (const Decoder::Layer& layer : decoder.layers)
    x = remat == Remat::kBlock ? checkpoint({x}, [&](const Values& v) { return layer(v[0], ctx); })
                               : layer(x, ctx);
  return decoder.norm(x);
}

Value sequence_states(const Decoder& decoder, Value tokens, Value positions, Value segments,
                      Remat remat) {
  const auto ctx = nn::Context::of_sequences(positions, segments, remat == Remat::kAttention);
  return hidden_states(decoder, tokens, ctx, remat);
}

}  // namespace hone::engine
