// Gemma 3, text (arXiv:2503.19786): five layers with a window to one without, each kind with its
// own rotary frequencies; queries and keys are normalised by head.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <cmath>

#include "models/decoder.h"
#include "models/gguf_names.h"
#include "nn/rope.h"

namespace hone {
namespace {

struct Config : DecoderConfig {
  double query_scalar = 256;
  std::vector<double> local_rope;  // of sliding layers, as `rope` of the others
};

// Newer configs have an object a kind of layer; older ones say the global frequencies as other
// families do, and "rope_local_base_freq".
void read_ropes(ConfigReader& r, Config& c) {
  double local_theta = 10000;
  r.want("rope_local_base_freq", local_theta, above(0));
  c.local_rope = nn::rope_frequencies(c.head_dim, local_theta);
  if (!r.has("rope_parameters")) {
    c.rope = read_rope(r, c.head_dim, /*theta=*/1e6);
    return;
  }
  auto kinds = r.object("rope_parameters");
  if (auto o = kinds->object("full_attention"))
    c.rope = read_rope_object(std::move(*o), c.head_dim, 1e6);
  if (auto o = kinds->object("sliding_attention"))
    c.local_rope = read_rope_object(std::move(*o), c.head_dim, local_theta);
  kinds->done();
}

Config config_of(ConfigReader& r, Config c) {
  c.head_dim = 256;
  c.max_positions = 131072;
  c.tied = true;
  if (c.kv_heads == 0) r.need("num_key_value_heads", c.kv_heads, between(1, 1 << 16));
  read_sizes(r, c);
  c.query_scalar = static_cast<double>(c.head_dim);
  // GGUF files leave it out; of all sizes only the largest differs.
  if (c.layers == 62) c.query_scalar = static_cast<double>(c.hidden) / static_cast<double>(c.heads);
  r.want("query_pre_attn_scalar", c.query_scalar, above(0));
  read_ropes(r, c);
  int64_t period = 6;
  r.want("sliding_window_pattern", period, at_least(1)).want("_sliding_window_pattern", period);
  c.windows = read_windows(r, c.layers, /*window=*/4096, period);
  r.expect("hidden_activation", "gelu_pytorch_tanh")
      .expect("attention_bias", false)
      .expect("final_logit_softcapping", 0.0)
      .expect("attn_logit_softcapping", 0.0)
      .expect("use_bidirectional_attention", false)
      .ignore("hidden_act", "hidden_activation is what counts");
  ignore_notes(r);
  return c;
}

struct Attention {
  Config c;
  size_t layer;
  Projections p;
  nn::RmsNorm q_norm, k_norm;

  Attention(nn::Scope scope, const Config& config, size_t index)
      : c(config),
        layer(index),
        p(scope, c),
        q_norm(scope / "q_norm", c.head_dim, c.eps, kGemmaOffset),
        k_norm(scope / "k_norm", c.head_dim, c.eps, kGemmaOffset) {}

  Value operator()(Value x, const nn::Context& ctx) const {
    const int64_t window = c.window(layer);
    const nn::Rope& rope = ctx.rope(window > 0 ? c.local_rope : c.rope);
    const Value queries = rope(q_norm(split_heads(p.q(x), c.heads)));
    const Value keys = rope(k_norm(split_heads(p.k(x), c.kv_heads)));
    const Value values = split_heads(p.v(x), c.kv_heads);
    const nn::Scores how{.scale = 1.0 / std::sqrt(c.query_scalar), .window = window};
    return p.o(attend(queries, keys, values, how, ctx, layer));
  }
};

Architecture read_text(ConfigReader& r) {
  const Config c = config_of(r, {});
  return {shape_of(c), [c](nn::Scope root) {
            return gemma_stack<SandwichBlock<Attention>>(root, root / "model", c);
          }};
}

Architecture read(ConfigReader& r) {
  ConfigReader text = text_config(r);
  Config published;  // leaves out what is the same in all sizes that see
  published.vocab = 262208;
  published.heads = 8;
  published.kv_heads = 4;
  const Config c = config_of(text, published);
  text.done();
  return {shape_of(c), [c](nn::Scope root) {
            return gemma_stack<SandwichBlock<Attention>>(root, root / "model" / "language_model",
                                                         c);
          }};
}

constexpr std::string_view kTowers[] = {"vision_tower.", "multi_modal_projector.",
                                        "model.vision_tower.", "model.multi_modal_projector."};
constexpr Family::Alias kAliases[] = {{"model.language_model.", "language_model.model."}};

constexpr auto kKeys = joined(kDecoderKeys, std::to_array<GgufNames::Key>({
                                                {"attention.sliding_window", "sliding_window"},
                                            }));
constexpr auto kTensors = joined(kDecoderTensors, kSandwichNormTensors, kQueryKeyTensors,
                                 query_key_norms(GgufNames::Order::kPlusOne));

}  // namespace

extern const Family kGemma3Text{
    .model_type = "gemma3_text",
    .read = read_text,
    .unused_tensors = kUnusedTensors,
    .gguf = {.architecture = "gemma3", .keys = kKeys, .tensors = kTensors}};
// The text model of a checkpoint that also sees.
extern const Family kGemma3{.model_type = "gemma3",
                            .read = read,
                            .unused_tensors = kUnusedTensors,
                            .towers = kTowers,
                            .aliases = kAliases};

}  // namespace hone
