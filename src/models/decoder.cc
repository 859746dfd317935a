#include "models/decoder.h"

namespace hone {

void read_sizes(ConfigReader& r, DecoderConfig& c) {
  const auto read = [&](const char* key, int64_t& size, const Rule& rule) {
    size == 0 ? r.need(key, size, rule) : r.want(key, size, rule);
  };
  read("vocab_size", c.vocab, between(1, 1 << 26));
  read("hidden_size", c.hidden, between(1, 1 << 20));
  read("intermediate_size", c.ffw, between(1, 1 << 22));
  read("num_hidden_layers", c.layers, between(1, 1024));
  read("num_attention_heads", c.heads, between(1, 1 << 16));
  if (c.kv_heads == 0) c.kv_heads = c.heads;
  r.want("num_key_value_heads", c.kv_heads, between(1, 1 << 16))
      .want("max_position_embeddings", c.max_positions, at_least(1))
      .want("rms_norm_eps", c.eps, above(0))
      .want("tie_word_embeddings", c.tied);
  if (c.heads % c.kv_heads != 0)
    throw ConfigError("{}: num_attention_heads {} is no multiple of num_key_value_heads {}",
                      r.file(), c.heads, c.kv_heads);
  if (c.head_dim == 0) c.head_dim = c.hidden / c.heads;
  r.want("head_dim", c.head_dim, between(2, 1 << 16));
}

ModelShape shape_of(const DecoderConfig& c) {
  ModelShape shape{.vocab = c.vocab,
                   .hidden = c.hidden,
                   .max_positions = c.max_positions,
                   .kv = {},
                   .layers = c.layers};
  for (int64_t i = 0; i < c.layers; ++i)
    shape.kv.push_back({c.kv_heads, c.head_dim, c.window(static_cast<size_t>(i))});
  return shape;
}

Projections::Projections(nn::Scope p, const DecoderConfig& c)
    : q(p / "q_proj", {"embed", c.hidden}, {"heads", c.heads * c.head_dim}),
      k(p / "k_proj", {"embed", c.hidden}, {"kv_heads", c.kv_heads * c.head_dim}),
      v(p / "v_proj", {"embed", c.hidden}, {"kv_heads", c.kv_heads * c.head_dim}),
      o(p / "o_proj", {"heads", c.heads * c.head_dim}, {"embed", c.hidden}) {}

Value split_heads(Value x, int64_t heads) {
  return reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads});
}

Decoder::Part softcapped(Decoder::Part head, double cap) {
  return [head = std::move(head), cap](Value x) {
    return tanh(convert(head(x), DType::kF32) / cap) * cap;
  };
}

}  // namespace hone
