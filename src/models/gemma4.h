// What the wirings of Gemma 4 share (as in transformers' models/gemma4): its config, and attention
// in parts. Norms multiply by their weight alone, scores are not scaled, and each layer's result
// is.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#pragma once

#include "models/decoder.h"

namespace hone::gemma4 {

// What a layer's attention is: one that slides, or one that looks back over everything.
struct Kind {
  int64_t kv_heads = 0, head_dim = 0;
  int64_t window = 0;             // keys that a query sees; 0: all
  std::vector<double> rope = {};  // angle per position of each pair
};

struct Config : DecoderConfig {
  Kind sliding, full;
  std::vector<bool> slides;   // of each layer
  bool key_is_value = false;  // in full layers
  double softcap = 0;         // of the logits; 0: none
  // E2B and E4B. The last `borrowers` layers look at keys and values of earlier ones; each layer
  // has an embedding of size `input`.
  int64_t borrowers = 0, borrower_ffw = 0, input = 0, input_vocab = 0;
  // 26B-A4B: of so many experts each token meets `chosen`. 0: no mixture.
  int64_t experts = 0, chosen = 0, expert_ffw = 0;

  const Kind& kind(size_t layer) const { return slides[layer] ? sliding : full; }
};

// Throws ConfigError at a wiring that is not here.
Config config_of(ConfigReader& r);

// x / rms(x) over the last axis.
Value unit(Value x, double eps);

// Queries by head; and the way back from what they find.
struct Queries {
  Kind kind;
  int64_t heads;
  nn::Linear q, o;
  nn::RmsNorm norm;

  Queries(nn::Scope p, const Config& c, size_t layer);
  Value operator()(Value x, const nn::Context& ctx) const;  // [b, s, d] -> [b, s, h, e]
  nn::Scores scores() const { return {.scale = 1, .window = kind.window, .softcap = 0}; }
};

// Keys and values by head, [b, s, d] -> two of [b, s, k, e]: each projected by itself, or from one
// projection.
struct KeysAndValues {
  Kind kind;
  nn::Linear k, v;
  nn::RmsNorm norm;
  double eps;

  KeysAndValues(nn::Scope p, const Config& c, size_t layer);
  nn::KeysValues operator()(Value x, const nn::Context& ctx) const;
};
struct KeysAsValues {
  Kind kind;
  nn::Linear k;
  nn::RmsNorm norm;
  double eps;

  KeysAsValues(nn::Scope p, const Config& c, size_t layer);
  nn::KeysValues operator()(Value x, const nn::Context& ctx) const;
};

template <class Source>
struct Attention {
  size_t layer;
  Queries queries;
  Source keys_values;

  Attention(nn::Scope p, const Config& c, size_t index)
      : layer(index), queries(p, c, index), keys_values(p, c, index) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value q = queries(x, ctx);
    const auto [k, v] = keys_values(x, ctx);
    return queries.o(attend(q, k, v, queries.scores(), ctx, layer));
  }
};

// The norms before and after each half of a block.
struct Norms {
  nn::RmsNorm pre_attn, post_attn, pre_ffw, post_ffw;

  Norms(nn::Scope p, const Config& c);
};

// x * layer_scalar, a number that checkpoints hold and nobody trains.
class LayerScalar {
 public:
  explicit LayerScalar(nn::Scope p) : weight_(p.constant({{"", 1}}, "layer_scalar")) {}
  Value operator()(Value x) const { return x * broadcast(reshape(weight_, {}), x.dims(), {}); }

 private:
  Value weight_;
};

// Scaled embedding, last norm, soft-capped head; `model` is the scope that holds the embedding.
Decoder without_layers(nn::Scope model, const Config& c);

// The same with a Block<Source> a layer. Each wiring's has a name of its own: GCC 12 takes two
// unnamed namespaces' templates of one name for one.
template <template <class Source> class Block>
Decoder with_layers(nn::Scope model, const Config& c) {
  Decoder d = without_layers(model, c);
  for (size_t i = 0; i < c.slides.size(); ++i) {
    const nn::Scope p = model / "layers" / static_cast<int64_t>(i);
    if (c.slides[i] || !c.key_is_value)
      d.layers.push_back(layer_of(Block<KeysAndValues>(p, c, i)));
    else
      d.layers.push_back(layer_of(Block<KeysAsValues>(p, c, i)));
  }
  return d;
}

Decoder build_dense(nn::Scope model, const Config& c);
Decoder build_e(nn::Scope model, const Config& c);  // E2B, E4B
Decoder build_mixture(nn::Scope model, const Config& c);

extern const GgufNames kGguf;

}  // namespace hone::gemma4
