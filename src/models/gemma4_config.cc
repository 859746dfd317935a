#include <algorithm>
#include <optional>

#include "base/error.h"
#include "models/gemma4.h"
#include "nn/rope.h"

namespace hone::gemma4 {
namespace {

// "global_head_dim" and "num_global_key_value_heads"; newer configs say the same of each full
// layer, under its number.
void read_full_kind(ConfigReader& r, Config& c) {
  int64_t heads = c.kv_heads;
  c.full.head_dim = 512;
  r.want("global_head_dim", c.full.head_dim, between(2, 1 << 16))
      .want("num_global_key_value_heads", heads, between(1, 1 << 16))
      .want("attention_k_eq_v", c.key_is_value);
  c.full.kv_heads = c.key_is_value ? heads : c.kv_heads;
  auto layers = r.object("per_layer_config");
  if (!layers) return;
  std::optional<Kind> first;
  for (size_t i = 0; i < c.slides.size(); ++i) {
    if (c.slides[i]) continue;
    Kind kind = c.full;
    auto own = layers->object(std::to_string(i));
    if (!own) throw ConfigError("{}: per_layer_config lacks the full layer {}", r.file(), i);
    own->want("head_dim", kind.head_dim, between(2, 1 << 16))
        .want("num_key_value_heads", kind.kv_heads, between(1, 1 << 16));
    own->done();
    if (!first) first = kind;
    if (kind.head_dim != first->head_dim || kind.kv_heads != first->kv_heads)
      throw ConfigError("{}: per_layer_config has full layers of several sizes", r.file());
  }
  layers->done();
  if (first) c.full = *first;
}

void read_ropes(ConfigReader& r, Config& c) {
  c.sliding.rope = nn::rope_frequencies(c.sliding.head_dim, 10000);
  c.full.rope = nn::partial(nn::rope_frequencies(c.full.head_dim, 1e6), 0.25);
  auto kinds = r.object("rope_parameters");
  if (!kinds) return;
  if (auto o = kinds->object("full_attention"))
    c.full.rope = read_rope_object(std::move(*o), c.full.head_dim, 1e6);
  if (auto o = kinds->object("sliding_attention"))
    c.sliding.rope = read_rope_object(std::move(*o), c.sliding.head_dim, 10000);
  kinds->done();
}

// The keys of E2B and E4B.
void read_e(ConfigReader& r, Config& c) {
  bool twice = false;
  c.input = 256;
  c.input_vocab = 262144;
  r.want("hidden_size_per_layer_input", c.input, between(0, 1 << 16))
      .want("vocab_size_per_layer_input", c.input_vocab, between(1, 1 << 26))
      .want("num_kv_shared_layers", c.borrowers, between(0, static_cast<double>(c.layers) - 1))
      .want("use_double_wide_mlp", twice);
  if (c.borrowers > 0 && c.input == 0)
    throw ConfigError(
        "{}: num_kv_shared_layers without hidden_size_per_layer_input is no wiring "
        "of Gemma 4 that is here",
        r.file());
  c.borrower_ffw = c.ffw * (twice ? 2 : 1);
  for (const bool slides : {false, true}) {
    const auto owners = c.slides.begin() + (c.layers - c.borrowers);
    if (std::find(owners, c.slides.end(), slides) != c.slides.end() &&
        std::find(c.slides.begin(), owners, slides) == owners)
      throw ConfigError("{}: num_kv_shared_layers {} leaves no {} layer of its own keys", r.file(),
                        c.borrowers, slides ? "sliding" : "full");
  }
}

// The keys of 26B-A4B.
void read_mixture(ConfigReader& r, Config& c) {
  bool mixture = false;
  r.want("enable_moe_block", mixture);
  if (!mixture) {
    for (const char* key : {"num_experts", "top_k_experts", "moe_intermediate_size"})
      r.ignore(key, "enable_moe_block is false");
  } else {
    r.need("num_experts", c.experts, between(1, 1 << 16))
        .need("top_k_experts", c.chosen, between(1, static_cast<double>(c.experts)))
        .need("moe_intermediate_size", c.expert_ffw, between(1, 1 << 22));
    if (c.input > 0)
      throw ConfigError(
          "{}: enable_moe_block with hidden_size_per_layer_input is no wiring of Gemma 4 that is "
          "here",
          r.file());
  }
  r.ignore("expert_intermediate_size", "an older name of moe_intermediate_size");
}

}  // namespace

Config config_of(ConfigReader& r) {
  Config c;
  c.head_dim = 256;
  c.max_positions = 131072;
  c.tied = true;
  read_sizes(r, c);
  r.need("num_key_value_heads", c.kv_heads, between(1, 1 << 16));
  if (!c.tied) throw ConfigError("{}: tie_word_embeddings is false; this family ties", r.file());
  c.sliding = {.kv_heads = c.kv_heads, .head_dim = c.head_dim, .window = 512, .rope = {}};
  r.want("sliding_window", c.sliding.window, at_least(1))
      .want("final_logit_softcapping", c.softcap, above(0));
  c.slides = read_sliding(r, c.layers, /*period=*/6);
  c.slides.back() = false;  // whatever the config says, as in the reference
  read_full_kind(r, c);
  if (c.heads % c.full.kv_heads != 0)
    throw ConfigError("{}: num_attention_heads {} is no multiple of full layers' {} key heads",
                      r.file(), c.heads, c.full.kv_heads);
  read_ropes(r, c);
  read_e(r, c);
  read_mixture(r, c);
  r.expect("hidden_activation", "gelu_pytorch_tanh")
      .expect("attention_bias", false)
      .expect("use_bidirectional_attention", "vision");  // among an image's tokens only
  ignore_notes(r);
  return c;
}

}  // namespace hone::gemma4
