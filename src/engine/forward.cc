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
  const nn::Context ctx{.positions = positions,
                        .mask = nn::segment_mask(segments),
                        .cache = nullptr,
                        .remat = remat == Remat::kAttention};
  return hidden_states(decoder, tokens, ctx, remat);
}

}  // namespace hone::engine
