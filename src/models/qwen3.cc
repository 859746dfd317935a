// Qwen 3, the dense sizes (arXiv:2505.09388): Llama whose queries and keys are normalised by head.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>

#include "models/decoder.h"
#include "models/gguf_names.h"

namespace hone {
namespace {

using Config = DecoderConfig;

Config config_of(ConfigReader& r) {
  Config c{.head_dim = 128};
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  expect_no_sliding(r, c.layers);
  r.expect("hidden_act", "silu").expect("attention_bias", false);
  ignore_notes(r);
  return c;
}

struct Attention {
  Config c;
  size_t layer;
  Projections p;
  nn::RmsNorm q_norm, k_norm;

  Attention(nn::Scope scope, const Config& config, size_t index)
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

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape_of(c), [c](nn::Scope root) { return stack<PreNormBlock<Attention>>(root, c); }};
}

constexpr auto kTensors = joined(kDecoderTensors, kPreNormTensors, kQueryKeyTensors,
                                 query_key_norms(GgufNames::Order::kSame));

}  // namespace

extern const Family kQwen3{
    .model_type = "qwen3",
    .read = read,
    .unused_tensors = kUnusedTensors,
    .gguf = {.architecture = "qwen3", .keys = kDecoderKeys, .tensors = kTensors}};

}  // namespace hone
