#include "models/config.h"

#include "base/error.h"
#include "nn/rope.h"

namespace hone {

std::vector<double> read_rope_object(ConfigReader r, int64_t head_dim, double theta) {
  std::string type = "default";
  const Rule known = one_of({"default", "linear", "llama3", "proportional"});
  r.want("type", type, known).want("rope_type", type, known);
  r.want("rope_theta", theta, above(0));
  std::vector<double> rope = nn::rope_frequencies(head_dim, theta);
  if (type == "linear") {
    double factor = 1;
    r.need("factor", factor, above(0));
    for (double& f : rope) f /= factor;
  } else if (type == "llama3") {
    nn::Llama3Scaling s;
    r.need("factor", s.factor, above(0))
        .need("low_freq_factor", s.low_freq_factor, above(0))
        .need("high_freq_factor", s.high_freq_factor, above(0))
        .need("original_max_position_embeddings", s.original_max_position_embeddings, at_least(1));
    rope = nn::scaled(rope, s);
  } else if (type == "proportional") {
    double factor = 1, share = 1;
    r.want("factor", factor, above(0)).want("partial_rotary_factor", share, between(0, 1));
    rope = nn::partial(rope, share);
    for (double& f : rope) f /= factor;
  }
  r.done();
  return rope;
}

std::vector<double> read_rope(ConfigReader& r, int64_t head_dim, double theta) {
  std::vector<double> divisors;
  int64_t turned = head_dim;
  r.want("rope_theta", theta, above(0))
      .want("rope_divisors", divisors, above(0))
      .want("rope_dimensions", turned);
  if (turned != head_dim)
    throw ConfigError("{}: {} of {} head dimensions turn; this family turns all", r.file(), turned,
                      head_dim);
  std::vector<double> rope = nn::rope_frequencies(head_dim, theta);
  for (const char* key : {"rope_scaling", "rope_parameters"})
    if (auto scaling = r.object(key)) rope = read_rope_object(std::move(*scaling), head_dim, theta);
  if (!divisors.empty() && divisors.size() != rope.size())
    throw ConfigError("{}: {} rope_divisors for {} frequencies", r.file(), divisors.size(),
                      rope.size());
  for (size_t i = 0; i < divisors.size(); ++i) rope[i] /= divisors[i];
  return rope;
}

std::vector<bool> read_sliding(ConfigReader& r, int64_t layers, int64_t period) {
  std::vector<bool> sliding;
  for (int64_t i = 0; i < layers; ++i) sliding.push_back(period > 0 && (i + 1) % period != 0);
  std::vector<std::string> types;
  r.want("layer_types", types, one_of({"full_attention", "sliding_attention"}));
  if (types.empty()) return sliding;
  if (std::ssize(types) != layers)
    throw ConfigError("{}: {} layer_types for {} layers", r.file(), types.size(), layers);
  for (size_t i = 0; i < types.size(); ++i) sliding[i] = types[i] == "sliding_attention";
  return sliding;
}

std::vector<int64_t> read_windows(ConfigReader& r, int64_t layers, int64_t window, int64_t period) {
  r.want("sliding_window", window, at_least(1));
  std::vector<int64_t> windows;
  for (const bool slides : read_sliding(r, layers, period)) windows.push_back(slides ? window : 0);
  return windows;
}

std::vector<int64_t> read_windows(ConfigReader& r, int64_t layers) {
  int64_t window = 0;
  r.want("sliding_window", window, at_least(1));
  return std::vector<int64_t>(static_cast<size_t>(layers), window);
}

void expect_no_sliding(ConfigReader& r, int64_t layers) {
  for (const bool slides : read_sliding(r, layers, /*period=*/0))
    if (slides)
      throw ConfigError("{}: layer_types has sliding layers; this family has none", r.file());
  r.expect("use_sliding_window", false)
      .ignore("sliding_window", "use_sliding_window is false")
      .ignore("max_window_layers", "use_sliding_window is false");
}

void read_experts(ConfigReader& r, const char* count, int64_t& experts, int64_t& chosen) {
  r.want(count, experts, between(1, 1 << 16)).want("num_experts_per_tok", chosen, at_least(1));
  if (chosen > experts)
    throw ConfigError("{}: num_experts_per_tok {} is more than the {} experts", r.file(), chosen,
                      experts);
}

double read_router_loss(ConfigReader& r) {
  bool asked = false;
  double weight = 0.001;
  r.want("output_router_logits", asked).want("router_aux_loss_coef", weight, at_least(0));
  return asked ? weight : 0;
}

ConfigReader text_config(ConfigReader& r) {
  std::optional<ConfigReader> text = r.object("text_config");
  if (!text) throw ConfigError("{}: no text_config", r.file());
  for (const char* key :
       {"vision_config", "audio_config", "mm_tokens_per_image", "vision_soft_tokens_per_image"})
    r.ignore(key, "only text is read");
  for (const char* key : {"image_token_id", "video_token_id", "audio_token_id", "boi_token_id",
                          "eoi_token_id", "boa_token_id", "eoa_token_id", "image_token_index",
                          "boi_token_index", "eoi_token_index", "eoa_token_index"})
    r.ignore(key, "the tokenizer says it");
  r.expect("tie_word_embeddings", true);
  ignore_notes(r);
  text->ignore("model_type", "the whole model's chose the family");
  return std::move(*text);
}

void ignore_notes(ConfigReader& r) {
  for (const char* key : {"architectures", "transformers_version", "_name_or_path",
                          "_model_name_or_path", "is_llama_config", "transformers.js_config"})
    r.ignore(key, "a note of the writer");
  for (const char* key : {"dtype", "torch_dtype"}) r.ignore(key, "the tensors say it");
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id"})
    r.ignore(key, "the tokenizer says it");
  for (const char* key :
       {"output_hidden_states", "output_attentions", "return_dict", "id2label", "label2id",
        "problem_type", "chunk_size_feed_forward", "is_encoder_decoder", "cache_implementation"})
    r.ignore(key, "a choice of the caller");
  r.ignore("initializer_range", "training from scratch only")
      .ignore("use_cache", "a choice of the caller")
      .ignore("attention_dropout", "adapters are tuned without it");
}

}  // namespace hone
