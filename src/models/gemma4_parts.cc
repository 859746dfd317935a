#include <cmath>

#include "models/gemma4.h"

namespace hone::gemma4 {

Value unit(Value x, double eps) {
  const Value wide = convert(x, DType::kF32);
  const Value scale = rsqrt(mean_last(wide * wide) + eps);
  return convert(wide * spread_last(scale, wide), x.dtype());
}

namespace {

nn::Linear of_kv_heads(nn::Scope p, const Config& c, const Kind& kind) {
  return {p, {"embed", c.hidden}, {"kv_heads", kind.kv_heads * kind.head_dim}};
}

}  // namespace

Queries::Queries(nn::Scope p, const Config& c, size_t layer)
    : kind(c.kind(layer)),
      heads(c.heads),
      q(p / "q_proj", {"embed", c.hidden}, {"heads", heads * kind.head_dim}),
      o(p / "o_proj", {"heads", heads * kind.head_dim}, {"embed", c.hidden}),
      norm(p / "q_norm", kind.head_dim, c.eps) {}

Value Queries::operator()(Value x, const nn::Context& ctx) const {
  return ctx.rope(kind.rope)(norm(split_heads(q(x), heads)));
}

KeysAndValues::KeysAndValues(nn::Scope p, const Config& c, size_t layer)
    : kind(c.kind(layer)),
      k(of_kv_heads(p / "k_proj", c, kind)),
      v(of_kv_heads(p / "v_proj", c, kind)),
      norm(p / "k_norm", kind.head_dim, c.eps),
      eps(c.eps) {}

nn::KeysValues KeysAndValues::operator()(Value x, const nn::Context& ctx) const {
  return {ctx.rope(kind.rope)(norm(split_heads(k(x), kind.kv_heads))),
          unit(split_heads(v(x), kind.kv_heads), eps)};
}

KeysAsValues::KeysAsValues(nn::Scope p, const Config& c, size_t layer)
    : kind(c.kind(layer)),
      k(of_kv_heads(p / "k_proj", c, kind)),
      norm(p / "k_norm", kind.head_dim, c.eps),
      eps(c.eps) {}

nn::KeysValues KeysAsValues::operator()(Value x, const nn::Context& ctx) const {
  const Value raw = split_heads(k(x), kind.kv_heads);
  return {ctx.rope(kind.rope)(norm(raw)), unit(raw, eps)};
}

Norms::Norms(nn::Scope p, const Config& c)
    : pre_attn(p / "input_layernorm", c.hidden, c.eps),
      post_attn(p / "post_attention_layernorm", c.hidden, c.eps),
      pre_ffw(p / "pre_feedforward_layernorm", c.hidden, c.eps),
      post_ffw(p / "post_feedforward_layernorm", c.hidden, c.eps) {}

Decoder without_layers(nn::Scope model, const Config& c) {
  const nn::Matrix table = (model / "embed_tokens").table({"vocab", c.vocab}, {"embed", c.hidden});
  const double scale = std::sqrt(static_cast<double>(c.hidden));
  Decoder d;
  d.embed = [table, scale](Value tokens) { return Values{table.rows(tokens) * scale}; };
  d.norm = nn::RmsNorm(model / "norm", c.hidden, c.eps);
  d.head = nn::Linear(table);
  if (c.softcap > 0) d.head = softcapped(d.head, c.softcap);
  return d;
}

}  // namespace hone::gemma4
