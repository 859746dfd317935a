#include "engine/forward.h"

namespace hone::engine {

namespace {

// The layer of which the backward pass keeps the input alone; what its routers say comes out as
// further results.
Value checkpointed(const Decoder::Layer& layer, Value x, const nn::Context& ctx) {
  const Values all = checkpoint({x}, [&](const Values& v) -> Values {
    nn::Balance own;
    nn::Context inside = ctx;
    if (ctx.balance != nullptr) inside.balance = &own;
    Values results{layer(v[0], inside)};
    results.insert(results.end(), own.routers.begin(), own.routers.end());
    return results;
  });
  if (ctx.balance != nullptr)
    ctx.balance->routers.insert(ctx.balance->routers.end(), all.begin() + 1, all.end());
  return all[0];
}

}  // namespace

Value hidden_states(const Decoder& decoder, Value tokens, const nn::Context& ctx, Remat remat) {
  Value x = decoder.embed(tokens);
  for (const Decoder::Layer& layer : decoder.layers)
    x = remat == Remat::kBlock ? checkpointed(layer, x, ctx) : layer(x, ctx);
  return decoder.norm(x);
}

Value sequence_states(const Decoder& decoder, Value tokens, Value positions, Value segments,
                      Remat remat, nn::Balance* balance) {
  auto ctx = nn::Context::of_sequences(positions, segments, remat == Remat::kAttention);
  ctx.balance = balance;
  return hidden_states(decoder, tokens, ctx, remat);
}

}  // namespace hone::engine
