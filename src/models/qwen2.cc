// Qwen 2 and 2.5 (arXiv:2407.10671): Llama with a bias on queries, keys and values.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>

#include "models/decoder.h"
#include "models/gguf_names.h"

namespace hone {
namespace {

// y + bias, [.., n] and [n].
Value add(Value y, Value bias) { return y + broadcast(bias, y.dims(), {y.rank() - 1}); }

using Config = DecoderConfig;

Config config_of(ConfigReader& r) {
  Config c;
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  expect_no_sliding(r, c.layers);
  r.expect("hidden_act", "silu");
  ignore_notes(r);
  return c;
}

struct Attention {
  Config c;
  size_t layer;
  Projections p;
  Value q_bias, k_bias, v_bias;

  Attention(nn::Scope scope, const Config& config, size_t index)
      : c(config),
        layer(index),
        p(scope, c),
        q_bias((scope / "q_proj").weight({{"heads", c.heads * c.head_dim}}, "bias")),
        k_bias((scope / "k_proj").weight({{"kv_heads", c.kv_heads * c.head_dim}}, "bias")),
        v_bias((scope / "v_proj").weight({{"kv_heads", c.kv_heads * c.head_dim}}, "bias")) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const nn::Rope& rope = ctx.rope(c.rope);
    const Value queries = rope(split_heads(add(p.q(x), q_bias), c.heads));
    const Value keys = rope(split_heads(add(p.k(x), k_bias), c.kv_heads));
    const Value values = split_heads(add(p.v(x), v_bias), c.kv_heads);
    return p.o(attend(queries, keys, values,
                      {.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim))}, ctx, layer));
  }
};

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape_of(c), [c](nn::Scope root) { return stack<PreNormBlock<Attention>>(root, c); }};
}

constexpr auto kTensors =
    joined(kDecoderTensors, kPreNormTensors, kQueryKeyTensors,
           std::to_array<GgufNames::Tensor>({
               {"blk.{}.attn_q.bias", "model.layers.{}.self_attn.q_proj.bias"},
               {"blk.{}.attn_k.bias", "model.layers.{}.self_attn.k_proj.bias"},
               {"blk.{}.attn_v.bias", "model.layers.{}.self_attn.v_proj.bias"},
           }));

}  // namespace

extern const Family kQwen2{
    .model_type = "qwen2",
    .read = read,
    .unused_tensors = kUnusedTensors,
    .gguf = {.architecture = "qwen2", .keys = kDecoderKeys, .tensors = kTensors}};

}  // namespace hone
