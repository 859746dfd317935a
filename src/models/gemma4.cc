// Gemma 4, text. Dense sizes (12B, 31B): five layers with a window to one without, whose values are
// its keys before norm and rotation, of which a quarter turns.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include "models/gemma4.h"

namespace hone {
namespace gemma4 {
namespace {

template <class Source>
struct DenseBlock {
  Norms norms;
  Attention<Source> attn;
  nn::GatedMlp mlp;
  LayerScalar scalar;

  DenseBlock(nn::Scope p, const Config& c, size_t layer)
      : norms(p, c),
        attn(p / "self_attn", c, layer),
        mlp(p / "mlp", c.hidden, c.ffw, gelu_tanh),
        scalar(p) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const Value h = x + norms.post_attn(attn(norms.pre_attn(x), ctx));
    return scalar(h + norms.post_ffw(mlp(norms.pre_ffw(h))));
  }
};

ModelShape shape(const Config& c) {
  ModelShape s = shape_of(c);
  s.kv.clear();
  for (int64_t i = 0; i < c.layers - c.borrowers; ++i) {
    const Kind& kind = c.kind(static_cast<size_t>(i));
    s.kv.push_back({kind.kv_heads, kind.head_dim, kind.window});
  }
  return s;
}

Decoder build(nn::Scope model, const Config& c) {
  if (c.experts > 0) return build_mixture(model, c);
  return c.input > 0 ? build_e(model, c) : build_dense(model, c);
}

Architecture read_text(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape(c), [c](nn::Scope root) { return build(root / "model", c); }};
}

// The text model of a checkpoint that also sees and hears.
Architecture read_multimodal(ConfigReader& r) {
  ConfigReader text = text_config(r);
  const Config c = config_of(text);
  text.done();
  return {shape(c), [c](nn::Scope root) { return build(root / "model" / "language_model", c); }};
}

constexpr std::string_view kTowers[] = {"model.vision_tower.", "model.embed_vision.",
                                        "model.audio_tower.", "model.embed_audio."};

}  // namespace

Decoder build_dense(nn::Scope model, const Config& c) { return with_layers<DenseBlock>(model, c); }

}  // namespace gemma4

extern const Family kGemma4Text{.model_type = "gemma4_text",
                                .read = gemma4::read_text,
                                .unused_tensors = kUnusedTensors,
                                .gguf = gemma4::kGguf};
extern const Family kGemma4{.model_type = "gemma4",
                            .read = gemma4::read_multimodal,
                            .unused_tensors = kUnusedTensors,
                            .towers = gemma4::kTowers};
// The 12B: the same text model beside other towers.
extern const Family kGemma4UnifiedText{.model_type = "gemma4_unified_text",
                                       .read = gemma4::read_text,
                                       .unused_tensors = kUnusedTensors};
extern const Family kGemma4Unified{.model_type = "gemma4_unified",
                                   .read = gemma4::read_multimodal,
                                   .unused_tensors = kUnusedTensors,
                                   .towers = gemma4::kTowers};

}  // namespace hone
