// What the GGUF files of most decoders have in common.
#pragma once

#include <array>

#include "models/family.h"

namespace hone {

inline constexpr auto kDecoderKeys = std::to_array<GgufNames::Key>({
    {"vocab_size", "vocab_size"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", GgufNames::Kind::kReal},
    {"context_length", "max_position_embeddings"},
    {"rope.dimension_count", "rope_dimensions"},
    {"rope.freq_base", "rope_theta", GgufNames::Kind::kReal},
    {"rope.scaling.type", "rope_scaling.type", GgufNames::Kind::kText},
    {"rope.scaling.factor", "rope_scaling.factor", GgufNames::Kind::kReal},
});

// All but the norms and what comes before the rotation of queries and keys.
inline constexpr auto kDecoderTensors = std::to_array<GgufNames::Tensor>({
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output.weight", "lm_head.weight"},
    {"blk.{}.attn_v.weight", "model.layers.{}.self_attn.v_proj.weight"},
    {"blk.{}.attn_output.weight", "model.layers.{}.self_attn.o_proj.weight"},
    {"blk.{}.ffn_gate.weight", "model.layers.{}.mlp.gate_proj.weight"},
    {"blk.{}.ffn_up.weight", "model.layers.{}.mlp.up_proj.weight"},
    {"blk.{}.ffn_down.weight", "model.layers.{}.mlp.down_proj.weight"},
});

// The norms of PreNormBlock, and of SandwichBlock.
inline constexpr auto kPreNormTensors = std::to_array<GgufNames::Tensor>({
    {"output_norm.weight", "model.norm.weight"},
    {"blk.{}.attn_norm.weight", "model.layers.{}.input_layernorm.weight"},
    {"blk.{}.ffn_norm.weight", "model.layers.{}.post_attention_layernorm.weight"},
});
inline constexpr auto kSandwichNormTensors = std::to_array<GgufNames::Tensor>({
    {"output_norm.weight", "model.norm.weight", GgufNames::Order::kPlusOne},
    {"blk.{}.attn_norm.weight", "model.layers.{}.input_layernorm.weight",
     GgufNames::Order::kPlusOne},
    {"blk.{}.post_attention_norm.weight", "model.layers.{}.post_attention_layernorm.weight",
     GgufNames::Order::kPlusOne},
    {"blk.{}.ffn_norm.weight", "model.layers.{}.pre_feedforward_layernorm.weight",
     GgufNames::Order::kPlusOne},
    {"blk.{}.post_ffw_norm.weight", "model.layers.{}.post_feedforward_layernorm.weight",
     GgufNames::Order::kPlusOne},
});

// Queries and keys as the checkpoint has them; and their norms by head.
inline constexpr auto kQueryKeyTensors = std::to_array<GgufNames::Tensor>({
    {"blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight"},
    {"blk.{}.attn_k.weight", "model.layers.{}.self_attn.k_proj.weight"},
});
constexpr auto query_key_norms(GgufNames::Order order) {
  return std::to_array<GgufNames::Tensor>({
      {"blk.{}.attn_q_norm.weight", "model.layers.{}.self_attn.q_norm.weight", order},
      {"blk.{}.attn_k_norm.weight", "model.layers.{}.self_attn.k_norm.weight", order},
  });
}

// Of a mixture of experts: the router, and the experts' matrices in stacks.
inline constexpr auto kExpertTensors = std::to_array<GgufNames::Tensor>({
    {"blk.{}.ffn_gate_inp.weight", "model.layers.{}.mlp.gate.weight"},
    {"blk.{}.ffn_gate_exps.weight", "model.layers.{}.mlp.experts.gate_proj"},
    {"blk.{}.ffn_up_exps.weight", "model.layers.{}.mlp.experts.up_proj"},
    {"blk.{}.ffn_gate_up_exps.weight", "model.layers.{}.mlp.experts.gate_up_proj"},
    {"blk.{}.ffn_down_exps.weight", "model.layers.{}.mlp.experts.down_proj"},
});
// Where gates and the rest are stacks of their own.
inline constexpr Spelling kSplitExperts{".mlp.experts.gate_up_proj",
                                        {".mlp.experts.gate_proj", ".mlp.experts.up_proj"}};

template <class T, size_t A, size_t B>
constexpr std::array<T, A + B> joined(const std::array<T, A>& a, const std::array<T, B>& b) {
  std::array<T, A + B> all{};
  for (size_t i = 0; i < A; ++i) all[i] = a[i];
  for (size_t i = 0; i < B; ++i) all[A + i] = b[i];
  return all;
}
template <class T, size_t A, size_t B, class... Rest>
constexpr auto joined(const std::array<T, A>& a, const std::array<T, B>& b, const Rest&... rest) {
  return joined(joined(a, b), rest...);
}

}  // namespace hone
