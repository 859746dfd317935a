// Gemma 2 (arXiv:2408.00118): every second layer has a window; scores and logits are soft-capped.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/config.h"
#include "models/gguf_names.h"
#include "nn/mlp.h"
#include "nn/norm.h"

namespace hone {
namespace {

struct Config {
  int64_t vocab, hidden, ffw, layers, heads, kv_heads, head_dim = 256;
  int64_t max_positions = 8192, window = 4096;
  double eps = 1e-6, query_scalar = 256;
  bool tied = true;
  double attn_softcap = 50, final_softcap = 30;
  std::vector<bool> sliding;
  std::vector<double> rope;  // angle per position of each pair
};

Config read(const nlohmann::json& json) {
  Config c{};
  ConfigReader r("config.json", json);
  r.need("vocab_size", c.vocab, between(1, 1 << 26))
      .need("hidden_size", c.hidden, between(1, 1 << 20))
      .need("intermediate_size", c.ffw, between(1, 1 << 22))
      .need("num_hidden_layers", c.layers, between(1, 1024))
      .need("num_attention_heads", c.heads, between(1, 1 << 16))
      .need("num_key_value_heads", c.kv_heads, between(1, 1 << 16))
      .want("head_dim", c.head_dim, between(2, 1 << 16))
      .want("max_position_embeddings", c.max_positions, at_least(1))
      .want("rms_norm_eps", c.eps, above(0))
      .want("tie_word_embeddings", c.tied)
      .want("sliding_window", c.window, at_least(1))
      .want("attn_logit_softcapping", c.attn_softcap, above(0))
      .want("final_logit_softcapping", c.final_softcap, above(0));
  check_heads(c.heads, c.kv_heads);
  c.query_scalar = static_cast<double>(c.head_dim);
  // GGUF files leave it out; of all sizes only the largest differs.
  if (c.layers == 46) c.query_scalar = static_cast<double>(c.hidden) / static_cast<double>(c.heads);
  r.want("query_pre_attn_scalar", c.query_scalar, above(0));
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  c.sliding = read_sliding(r, c.layers, /*period=*/2);
  r.expect("model_type", "gemma2")
      .expect("hidden_activation", "gelu_pytorch_tanh")
      .expect("attention_bias", false)
      .expect("use_bidirectional_attention", false)
      .ignore("hidden_act", "hidden_activation is what counts");
  ignore_notes(r);
  r.done();
  return c;
}

constexpr double kOffset = 1;  // norms multiply by 1 + weight

struct Attention {
  Config c;
  size_t layer;
  nn::Linear q, k, v, o;

  Attention(nn::Scope p, const Config& config, size_t index)
      : c(config),
        layer(index),
        q(p / "q_proj", {"embed", c.hidden}, {"heads", c.heads * c.head_dim}),
        k(p / "k_proj", {"embed", c.hidden}, {"kv_heads", c.kv_heads * c.head_dim}),
        v(p / "v_proj", {"embed", c.hidden}, {"kv_heads", c.kv_heads * c.head_dim}),
        o(p / "o_proj", {"heads", c.heads * c.head_dim}, {"embed", c.hidden}) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const int64_t b = x.dim(0), s = x.dim(1);
    const nn::Rope& rope = ctx.rope(c.rope);
    const Value queries = rope(reshape(q(x), {b, s, c.heads, c.head_dim}));
    const Value keys = rope(reshape(k(x), {b, s, c.kv_heads, c.head_dim}));
    const Value values = reshape(v(x), {b, s, c.kv_heads, c.head_dim});
    const nn::Scores how{.scale = 1.0 / std::sqrt(c.query_scalar),
                         .window = c.sliding[layer] ? c.window : 0,
                         .softcap = c.attn_softcap};
    return o(attend(queries, keys, values, how, ctx, layer));
  }
};

struct Block {
  nn::RmsNorm pre_attn, post_attn, pre_ffw, post_ffw;
  Attention attn;
  nn::GatedMlp mlp;

  Block(nn::Scope p, const Config& c, size_t index)
      : pre_attn(p / "input_layernorm", c.hidden, c.eps, kOffset),
        post_attn(p / "post_attention_layernorm", c.hidden, c.eps, kOffset),
        pre_ffw(p / "pre_feedforward_layernorm", c.hidden, c.eps, kOffset),
        post_ffw(p / "post_feedforward_layernorm", c.hidden, c.eps, kOffset),
        attn(p / "self_attn", c, index),
        mlp(p / "mlp", c.hidden, c.ffw, gelu_tanh) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value h = x + post_attn(attn(pre_attn(x), ctx));
    return h + post_ffw(mlp(pre_ffw(h)));
  }
};

ModelShape shape(const nlohmann::json& config) {
  const Config c = read(config);
  return {.vocab = c.vocab,
          .hidden = c.hidden,
          .max_positions = c.max_positions,
          .kv = std::vector<ModelShape::KvHeads>(static_cast<size_t>(c.layers),
                                                 {c.kv_heads, c.head_dim})};
}

Decoder build(nn::Scope root, const nlohmann::json& config) {
  const Config c = read(config);
  const nn::Scope model = root / "model";
  const nn::Matrix table = (model / "embed_tokens").table({"vocab", c.vocab}, {"embed", c.hidden});
  Decoder d;
  const double scale = std::sqrt(static_cast<double>(c.hidden));
  d.embed = [table, scale](Value tokens) { return table.rows(tokens) * scale; };
  for (int64_t i = 0; i < c.layers; ++i)
    d.layers.emplace_back(Block(model / "layers" / i, c, static_cast<size_t>(i)));
  d.norm = nn::RmsNorm(model / "norm", c.hidden, c.eps, kOffset);
  const nn::Linear head =
      c.tied ? nn::Linear(table)
             : nn::Linear(root / "lm_head", {"embed", c.hidden}, {"vocab", c.vocab});
  d.head = [head, cap = c.final_softcap](Value x) {
    return tanh(convert(head(x), DType::kF32) / cap) * cap;
  };
  return d;
}

using enum GgufNames::Order;
constexpr auto kKeys =
    joined(kDecoderKeys,
           std::to_array<GgufNames::Key>({
               {"attention.sliding_window", "sliding_window"},
               {"attn_logit_softcapping", "attn_logit_softcapping", GgufNames::Kind::kReal},
               {"final_logit_softcapping", "final_logit_softcapping", GgufNames::Kind::kReal},
           }));
constexpr auto kTensors = joined(
    kDecoderTensors,
    std::to_array<GgufNames::Tensor>({
        {"output_norm.weight", "model.norm.weight", kPlusOne},
        {"blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight"},
        {"blk.{}.attn_k.weight", "model.layers.{}.self_attn.k_proj.weight"},
        {"blk.{}.attn_norm.weight", "model.layers.{}.input_layernorm.weight", kPlusOne},
        {"blk.{}.post_attention_norm.weight", "model.layers.{}.post_attention_layernorm.weight",
         kPlusOne},
        {"blk.{}.ffn_norm.weight", "model.layers.{}.pre_feedforward_layernorm.weight", kPlusOne},
        {"blk.{}.post_ffw_norm.weight", "model.layers.{}.post_feedforward_layernorm.weight",
         kPlusOne},
    }));

constexpr std::string_view kUnused[] = {"rotary_emb.inv_freq", "lm_head.weight"};  // a tied head

}  // namespace

extern const Family kGemma2{.model_type = "gemma2",
                            .shape = shape,
                            .build = build,
                            .unused_tensors = kUnused,
                            .gguf = {.architecture = "gemma2", .keys = kKeys, .tensors = kTensors}};

}  // namespace hone
