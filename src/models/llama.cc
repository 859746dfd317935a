// Llama (arXiv:2302.13971, 2307.09288, 2407.21783): also SmolLM2 and TinyLlama.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>

#include "models/decoder.h"
#include "models/gguf_names.h"

namespace hone {
namespace {

using Config = DecoderConfig;

Config config_of(ConfigReader& r) {
  Config c{.max_positions = 2048};
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  r.expect("hidden_act", "silu")
      .expect("attention_bias", false)
      .expect("mlp_bias", false)
      .expect("rope_interleaved", false)
      .ignore("pretraining_tp", "a split of the products that changes nothing but rounding");
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
    return p.o(attend(queries, keys, values,
                      {.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim))}, ctx, layer));
  }
};

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape_of(c), [c](nn::Scope root) { return stack<PreNormBlock<Attention>>(root, c); }};
}

using enum GgufNames::Order;
constexpr auto kTensors = joined(
    kDecoderTensors, kPreNormTensors,
    std::to_array<GgufNames::Tensor>({
        {"blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight", kInterleavedQuery},
        {"blk.{}.attn_k.weight", "model.layers.{}.self_attn.k_proj.weight", kInterleavedKey},
    }));

}  // namespace

extern const Family kLlama{
    .model_type = "llama",
    .read = read,
    .unused_tensors = kUnusedTensors,
    .gguf = {.architecture = "llama", .keys = kDecoderKeys, .tensors = kTensors}};

}  // namespace hone
