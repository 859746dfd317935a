// What most decoders have in common: the sizes in their config, a stack of like blocks, and the
// blocks of two kinds. A family's file holds what is its own, above all its Attention:
//
//   Attention(nn::Scope p, const Config& c, size_t layer);
//   Value operator()(Value x, const nn::Context& ctx) const;    // [b, s, d] -> the same
#pragma once

#include <cmath>

#include "models/config.h"
#include "models/family.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "ops/ops.h"

namespace hone {

// A family's Config adds its own fields, and sets the defaults that are its own.
struct DecoderConfig {
  int64_t vocab = 0, hidden = 0, ffw = 0, layers = 0, heads = 0, kv_heads = 0;
  int64_t head_dim = 0;  // 0: hidden / heads
  int64_t max_positions = 32768;
  double eps = 1e-6;
  bool tied = false;
  std::vector<double> rope = {};      // angle per position of each pair
  std::vector<int64_t> windows = {};  // keys that a layer's queries see, 0: all; empty: all in each

  int64_t window(size_t layer) const { return windows.empty() ? 0 : windows[layer]; }
};

// A size that is 0 must be said.
void read_sizes(ConfigReader& r, DecoderConfig& c);

ModelShape shape_of(const DecoderConfig& c);

// The projections of attention: queries, keys, values, and what comes back.
struct Projections {
  nn::Linear q, k, v, o;

  Projections(nn::Scope p, const DecoderConfig& c);
};

// [b, s, heads * e] -> [b, s, heads, e]
Value split_heads(Value x, int64_t heads);

// The feed-forward layer of most. Another is made of the same, and called with the same.
struct DenseMlp {
  nn::GatedMlp mlp;

  DenseMlp(nn::Scope p, const DecoderConfig& c, size_t) : mlp(p, c.hidden, c.ffw, silu) {}
  Value operator()(Value x, const nn::Context&) const { return mlp(x); }
};

// Llama's block: a norm before each half.
template <class Attention, class Mlp = DenseMlp>
struct PreNormBlock {
  nn::RmsNorm pre_attn, pre_ffw;
  Attention attn;
  Mlp mlp;

  template <class Config>
  PreNormBlock(nn::Scope p, const Config& c, size_t layer)
      : pre_attn(p / "input_layernorm", c.hidden, c.eps),
        pre_ffw(p / "post_attention_layernorm", c.hidden, c.eps),
        attn(p / "self_attn", c, layer),
        mlp(p / "mlp", c, layer) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value h = x + attn(pre_attn(x), ctx);
    return h + mlp(pre_ffw(h), ctx);
  }
};

constexpr double kGemmaOffset = 1;  // Gemma 2 and 3: norms multiply by 1 + weight

// Gemma's block: a norm before and after each half.
template <class Attention>
struct SandwichBlock {
  nn::RmsNorm pre_attn, post_attn, pre_ffw, post_ffw;
  Attention attn;
  nn::GatedMlp mlp;

  template <class Config>
  SandwichBlock(nn::Scope p, const Config& c, size_t layer)
      : pre_attn(p / "input_layernorm", c.hidden, c.eps, kGemmaOffset),
        post_attn(p / "post_attention_layernorm", c.hidden, c.eps, kGemmaOffset),
        pre_ffw(p / "pre_feedforward_layernorm", c.hidden, c.eps, kGemmaOffset),
        post_ffw(p / "post_feedforward_layernorm", c.hidden, c.eps, kGemmaOffset),
        attn(p / "self_attn", c, layer),
        mlp(p / "mlp", c.hidden, c.ffw, gelu_tanh) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value h = x + post_attn(attn(pre_attn(x), ctx));
    return h + post_ffw(mlp(pre_ffw(h)));
  }
};

// A block as the layer of a family that carries x alone.
template <class Block>
Decoder::Layer layer_of(Block block) {
  return [block = std::move(block)](const Values& state, const nn::Context& ctx) {
    return Values{block(state[0], ctx)};
  };
}

// Embedding, blocks, last norm and head, tied or not. `model` is the scope that holds all but the
// head, which is below `root`.
template <class Block, class Config>
Decoder stack(nn::Scope root, nn::Scope model, const Config& c, double norm_offset = 0) {
  const nn::Matrix table = (model / "embed_tokens").table({"vocab", c.vocab}, {"embed", c.hidden});
  Decoder d;
  d.embed = [table](Value tokens) { return Values{table.rows(tokens)}; };
  for (int64_t i = 0; i < c.layers; ++i)
    d.layers.push_back(layer_of(Block(model / "layers" / i, c, static_cast<size_t>(i))));
  d.norm = nn::RmsNorm(model / "norm", c.hidden, c.eps, norm_offset);
  d.head = c.tied ? nn::Linear(table)
                  : nn::Linear(root / "lm_head", {"embed", c.hidden}, {"vocab", c.vocab});
  return d;
}

template <class Block, class Config>
Decoder stack(nn::Scope root, const Config& c) {
  return stack<Block>(root, root / "model", c);
}

// The same of Gemma's blocks, whose embeddings are scaled by the root of their size.
template <class Block, class Config>
Decoder gemma_stack(nn::Scope root, nn::Scope model, const Config& c) {
  Decoder d = stack<Block>(root, model, c, kGemmaOffset);
  const double scale = std::sqrt(static_cast<double>(c.hidden));
  d.embed = [plain = d.embed, scale](Value tokens) { return Values{plain(tokens)[0] * scale}; };
  return d;
}

// Logits within (-cap, cap), f32.
Decoder::Part softcapped(Decoder::Part head, double cap);

// Checkpoints may repeat the table as a head that is tied to it.
inline constexpr std::string_view kUnusedTensors[] = {"rotary_emb.inv_freq", "lm_head.weight"};

}  // namespace hone
