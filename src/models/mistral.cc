// Mistral (arXiv:2310.06825), also Nemo and Small: Llama whose queries may see a window of keys
// only.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>

#include "models/decoder.h"

namespace hone {
namespace {

struct Config : DecoderConfig {
  int64_t window = 0;  // keys that a query sees; 0: all
};

Config config_of(ConfigReader& r) {
  Config c;
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  r.want("sliding_window", c.window, at_least(1));
  r.expect("hidden_act", "silu");
  ignore_notes(r);
  return c;
}

struct Attention {
  Config c;
  size_t layer;
  Projections p;

  Attention(nn::Scope scope, const Config& config, size_t index)
      : c(config), layer(index), p(scope, c) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const nn::Rope& rope = ctx.rope(c.rope);
    const Value queries = rope(split_heads(p.q(x), c.heads));
    const Value keys = rope(split_heads(p.k(x), c.kv_heads));
    const Value values = split_heads(p.v(x), c.kv_heads);
    return p.o(
        attend(queries, keys, values,
               {.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim)), .window = c.window}, ctx,
               layer));
  }
};

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape_of(c), [c](nn::Scope root) { return stack<PreNormBlock<Attention>>(root, c); }};
}

}  // namespace

// In GGUF files it is "llama".
extern const Family kMistral{
    .model_type = "mistral", .read = read, .unused_tensors = kUnusedTensors, .gguf = {}};

}  // namespace hone
