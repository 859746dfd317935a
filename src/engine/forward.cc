#include "engine/forward.h"

namespace hone::engine {

Value hidden_states(const Decoder& decoder, Value tokens, const nn::Context& ctx) {
  Value x = decoder.embed(tokens);
  for (const Decoder::Layer& layer : decoder.layers) x = layer(x, ctx);
  return decoder.norm(x);
}

Value sequence_states(const Decoder& decoder, Value tokens, Value positions, Value segments) {
  return hidden_states(
      decoder, tokens,
      {.positions = positions, .mask = nn::segment_mask(segments), .cache = nullptr});
}

}  // namespace hone::engine
