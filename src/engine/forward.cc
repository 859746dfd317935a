#include "engine/forward.h"

namespace hone::engine {
namespace {

// The layer of which the backward pass keeps x alone; what its routers say comes out as further
// results.
Values checkpointed(const Decoder::Layer& layer, const Values& state, const nn::Context& ctx) {
  nn::Balance none;
  Values& routers = (ctx.balance != nullptr ? *ctx.balance : none).routers;
  const auto before = static_cast<long>(routers.size());
  Values all = checkpoint({state[0]}, [&](const Values& x) {
    Values inside = state;
    inside[0] = x[0];
    Values results = layer(inside, ctx);
    results.insert(results.end(), routers.begin() + before, routers.end());
    routers.resize(static_cast<size_t>(before));
    return results;
  });
  const auto own = all.begin() + static_cast<long>(state.size());
  routers.insert(routers.end(), own, all.end());
  all.erase(own, all.end());
  return all;
}

}  // namespace

Value hidden_states(const Decoder& decoder, Value tokens, const nn::Context& ctx, Remat remat) {
  Values state = decoder.embed(tokens);
  for (const Decoder::Layer& layer : decoder.layers)
    state = remat == Remat::kBlock ? checkpointed(layer, state, ctx) : layer(state, ctx);
  return decoder.norm(state[0]);
}

Value sequence_states(const Decoder& decoder, Value tokens, Value positions, Value segments,
                      Remat remat, nn::Balance* balance) {
  auto ctx = nn::Context::of_sequences(positions, segments, remat == Remat::kAttention);
  ctx.balance = balance;
  return hidden_states(decoder, tokens, ctx, remat);
}

}  // namespace hone::engine
