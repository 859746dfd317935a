// Gemma 2 (arXiv:2408.00118): every second layer has a window; scores and logits are soft-capped.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>

#include "models/decoder.h"
#include "models/gguf_names.h"

namespace hone {
namespace {

struct Config : DecoderConfig {
  double query_scalar = 256, attn_softcap = 50, final_softcap = 30;
};

Config config_of(ConfigReader& r) {
  Config c;
  c.head_dim = 256;
  c.max_positions = 8192;
  c.tied = true;
  read_sizes(r, c);
  r.need("num_key_value_heads", c.kv_heads, between(1, 1 << 16));
  r.want("attn_logit_softcapping", c.attn_softcap, above(0))
      .want("final_logit_softcapping", c.final_softcap, above(0));
  c.query_scalar = static_cast<double>(c.head_dim);
  // GGUF files leave it out; of all sizes only the largest differs.
  if (c.layers == 46) c.query_scalar = static_cast<double>(c.hidden) / static_cast<double>(c.heads);
  r.want("query_pre_attn_scalar", c.query_scalar, above(0));
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  c.windows = read_windows(r, c.layers, /*window=*/4096, /*period=*/2);
  r.expect("hidden_activation", "gelu_pytorch_tanh")
      .expect("attention_bias", false)
      .expect("use_bidirectional_attention", false)
      .ignore("hidden_act", "hidden_activation is what counts");
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
    const nn::Scores how{.scale = 1.0 / std::sqrt(c.query_scalar),
                         .window = c.window(layer),
                         .softcap = c.attn_softcap};
    return p.o(attend(queries, keys, values, how, ctx, layer));
  }
};

Decoder build(nn::Scope root, const Config& c) {
  Decoder d = gemma_stack<SandwichBlock<Attention>>(root, root / "model", c);
  d.head = softcapped(d.head, c.final_softcap);
  return d;
}

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape_of(c), [c](nn::Scope root) { return build(root, c); }};
}

constexpr auto kKeys =
    joined(kDecoderKeys,
           std::to_array<GgufNames::Key>({
               {"attention.sliding_window", "sliding_window"},
               {"attn_logit_softcapping", "attn_logit_softcapping", GgufNames::Kind::kReal},
               {"final_logit_softcapping", "final_logit_softcapping", GgufNames::Kind::kReal},
           }));
constexpr auto kTensors = joined(kDecoderTensors, kSandwichNormTensors, kQueryKeyTensors);

}  // namespace

extern const Family kGemma2{.model_type = "gemma2",
                            .read = read,
                            .unused_tensors = kUnusedTensors,
                            .gguf = {.architecture = "gemma2", .keys = kKeys, .tensors = kTensors}};

}  // namespace hone
