#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/gemma4.h"
#include "models/gguf_names.h"

namespace hone::gemma4 {
namespace {

constexpr auto kKeys = std::to_array<GgufNames::Key>({
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size", GgufNames::Kind::kIntegers},
    {"block_count", "num_hidden_layers"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads", GgufNames::Kind::kIntegers},
    {"attention.key_length", "global_head_dim"},
    {"attention.key_length_swa", "head_dim"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", GgufNames::Kind::kReal},
    {"attention.sliding_window", "sliding_window"},
    {"attention.sliding_window_pattern", "layer_types", GgufNames::Kind::kIntegers},
    {"attention.shared_kv_layers", "num_kv_shared_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length_per_layer_input", "hidden_size_per_layer_input"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "top_k_experts"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"final_logit_softcapping", "final_logit_softcapping", GgufNames::Kind::kReal},
    {"rope.freq_base", "rope_parameters.full_attention.rope_theta", GgufNames::Kind::kReal},
    {"rope.freq_base_swa", "rope_parameters.sliding_attention.rope_theta", GgufNames::Kind::kReal},
});

constexpr auto kTensors = joined(
    kDecoderTensors, kQueryKeyTensors, query_key_norms(GgufNames::Order::kSame),
    std::to_array<GgufNames::Tensor>({
        {"output_norm.weight", "model.norm.weight"},
        {"blk.{}.attn_norm.weight", "model.layers.{}.input_layernorm.weight"},
        {"blk.{}.post_attention_norm.weight", "model.layers.{}.post_attention_layernorm.weight"},
        {"blk.{}.ffn_norm.weight", "model.layers.{}.pre_feedforward_layernorm.weight"},
        {"blk.{}.post_ffw_norm.weight", "model.layers.{}.post_feedforward_layernorm.weight"},
        {"blk.{}.layer_output_scale.weight", "model.layers.{}.layer_scalar"},
        {"blk.{}.post_ffw_norm_1.weight", "model.layers.{}.post_feedforward_layernorm_1.weight"},
        {"blk.{}.pre_ffw_norm_2.weight", "model.layers.{}.pre_feedforward_layernorm_2.weight"},
        {"blk.{}.post_ffw_norm_2.weight", "model.layers.{}.post_feedforward_layernorm_2.weight"},
        {"blk.{}.ffn_gate_inp.weight", "model.layers.{}.router.proj.weight"},
        {"blk.{}.ffn_gate_inp.scale", "model.layers.{}.router.scale"},
        {"blk.{}.ffn_down_exps.scale", "model.layers.{}.router.per_expert_scale"},
        {"blk.{}.ffn_gate_up_exps.weight", "model.layers.{}.experts.gate_up_proj"},
        {"blk.{}.ffn_down_exps.weight", "model.layers.{}.experts.down_proj"},
        {"per_layer_token_embd.weight", "model.embed_tokens_per_layer.weight"},
        {"per_layer_model_proj.weight", "model.per_layer_model_projection.weight"},
        {"per_layer_proj_norm.weight", "model.per_layer_projection_norm.weight"},
        {"blk.{}.inp_gate.weight", "model.layers.{}.per_layer_input_gate.weight"},
        {"blk.{}.proj.weight", "model.layers.{}.per_layer_projection.weight"},
        {"blk.{}.post_norm.weight", "model.layers.{}.post_per_layer_input_norm.weight"},
    }));

// What llama.cpp says a layer at a time, or by a tensor that is missing.
void finish(nlohmann::json& config, const GgufNames::Has& has) {
  std::vector<int64_t> slides, heads, ffw;
  const auto take = [&](const char* key, std::vector<int64_t>& out) {
    if (const auto it = config.find(key); it != config.end() && it->is_array()) {
      out = it->get<std::vector<int64_t>>();
      config.erase(it);
    }
  };
  take("layer_types", slides);
  take("num_key_value_heads", heads);
  take("intermediate_size", ffw);
  for (size_t i = 0; i < slides.size(); ++i) {
    config["layer_types"].push_back(slides[i] != 0 ? "sliding_attention" : "full_attention");
    const char* kind = slides[i] != 0 ? "num_key_value_heads" : "num_global_key_value_heads";
    if (i < heads.size()) config[kind] = heads[i];
    if (slides[i] == 0 && !config.contains("attention_k_eq_v"))
      config["attention_k_eq_v"] = !has(fmt::format("blk.{}.attn_v.weight", i));
  }
  if (!ffw.empty()) {
    config["intermediate_size"] = ffw.front();
    config["use_double_wide_mlp"] = ffw.back() == 2 * ffw.front();
  }
  config["enable_moe_block"] = config.value("num_experts", int64_t{0}) > 0;
  config["vocab_size_per_layer_input"] = config["vocab_size"];
  // Pairs that do not turn have an enormous divisor.
  if (const auto it = config.find("rope_divisors"); it != config.end()) {
    const auto divisors = it->get<std::vector<double>>();
    const auto turning = std::ranges::count(divisors, 1.0);
    auto& full = config["rope_parameters"]["full_attention"];
    full["rope_type"] = "proportional";
    full["partial_rotary_factor"] =
        static_cast<double>(turning) / static_cast<double>(std::max<size_t>(divisors.size(), 1));
    config.erase(it);
  }
}

}  // namespace

extern const GgufNames kGguf{
    .architecture = "gemma4", .keys = kKeys, .tensors = kTensors, .finish = finish};

}  // namespace hone::gemma4
