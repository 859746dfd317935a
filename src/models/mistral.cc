// Mistral (arXiv:2310.06825), also Nemo and Small: Llama whose queries may see a window of keys
// only.
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
  int64_t vocab, hidden, ffw, layers, heads, kv_heads, head_dim;
  int64_t max_positions = 32768;
  double eps = 1e-6;
  bool tied = false;
  int64_t window = 0;        // keys that a query sees; 0: all
  std::vector<double> rope;  // angle per position of each pair
};

Config read(const nlohmann::json& json) {
  Config c{};
  ConfigReader r("config.json", json);
  r.need("vocab_size", c.vocab, between(1, 1 << 26))
      .need("hidden_size", c.hidden, between(1, 1 << 20))
      .need("intermediate_size", c.ffw, between(1, 1 << 22))
      .need("num_hidden_layers", c.layers, between(1, 1024))
      .need("num_attention_heads", c.heads, between(1, 1 << 16));
  c.kv_heads = c.heads;
  r.want("num_key_value_heads", c.kv_heads, between(1, 1 << 16))
      .want("max_position_embeddings", c.max_positions, at_least(1))
      .want("rms_norm_eps", c.eps, above(0))
      .want("tie_word_embeddings", c.tied);
  check_heads(c.heads, c.kv_heads);
  c.head_dim = c.hidden / c.heads;
  r.want("head_dim", c.head_dim, between(2, 1 << 16));
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  r.want("sliding_window", c.window, at_least(1));
  r.expect("model_type", "mistral").expect("hidden_act", "silu");
  ignore_notes(r);
  r.done();
  return c;
}

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
    return o(attend(queries, keys, values,
                    {.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim)), .window = c.window},
                    ctx, layer));
  }
};

struct Block {
  nn::RmsNorm pre_attn, pre_ffw;
  Attention attn;
  nn::GatedMlp mlp;

  Block(nn::Scope p, const Config& c, size_t index)
      : pre_attn(p / "input_layernorm", c.hidden, c.eps),
        pre_ffw(p / "post_attention_layernorm", c.hidden, c.eps),
        attn(p / "self_attn", c, index),
        mlp(p / "mlp", c.hidden, c.ffw, silu) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value h = x + attn(pre_attn(x), ctx);
    return h + mlp(pre_ffw(h));
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
  d.embed = [table](Value tokens) { return table.rows(tokens); };
  for (int64_t i = 0; i < c.layers; ++i)
    d.layers.emplace_back(Block(model / "layers" / i, c, static_cast<size_t>(i)));
  d.norm = nn::RmsNorm(model / "norm", c.hidden, c.eps);
  d.head = c.tied ? nn::Linear(table)
                  : nn::Linear(root / "lm_head", {"embed", c.hidden}, {"vocab", c.vocab});
  return d;
}

constexpr std::string_view kUnused[] = {"rotary_emb.inv_freq", "lm_head.weight"};  // a tied head

}  // namespace

// In GGUF files it is "llama".
extern const Family kMistral{
    .model_type = "mistral", .shape = shape, .build = build, .unused_tensors = kUnused, .gguf = {}};

}  // namespace hone
