// Mixtral (arXiv:2401.04088): Mistral whose feed-forward layers are mixtures of experts.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include "models/gguf_names.h"
#include "models/mistral_attention.h"
#include "nn/moe.h"

namespace hone {
namespace {

struct Config : DecoderConfig {
  nn::SparseMlp::Sizes moe;
  double balance = 0;
};

Config config_of(ConfigReader& r) {
  Config c;
  c.max_positions = 131072;
  c.eps = 1e-5;
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/1e6);
  c.windows = read_windows(r, c.layers);
  c.moe = {.experts = 8, .chosen = 2, .ffw = c.ffw, .normalised = true};
  read_experts(r, "num_local_experts", c.moe.experts, c.moe.chosen);
  c.balance = read_router_loss(r);
  r.expect("hidden_act", "silu").expect("router_jitter_noise", 0.0);
  ignore_notes(r);
  return c;
}

struct Mlp : nn::SparseMlp {
  Mlp(nn::Scope p, const Config& c, size_t) : SparseMlp(p, c.hidden, c.moe, silu) {}
};

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  ModelShape shape = shape_of(c);
  shape.router_loss = c.balance;
  return {shape,
          [c](nn::Scope root) { return stack<PreNormBlock<MistralAttention, Mlp>>(root, c); }};
}

// Checkpoints before transformers 5 have a matrix a tensor, and another name for the layer.
constexpr auto kSpellings = std::to_array<Spelling>({
    {".mlp.gate.weight", {".block_sparse_moe.gate.weight"}},
    {".mlp.experts.gate_up_proj",
     {".block_sparse_moe.experts.{}.w1.weight", ".block_sparse_moe.experts.{}.w3.weight"}},
    {".mlp.experts.down_proj", {".block_sparse_moe.experts.{}.w2.weight"}},
    kSplitExperts,
});

using enum GgufNames::Order;
constexpr auto kTensors = joined(
    kDecoderTensors, kPreNormTensors, kExpertTensors,
    std::to_array<GgufNames::Tensor>({
        {"blk.{}.attn_q.weight", "model.layers.{}.self_attn.q_proj.weight", kInterleavedQuery},
        {"blk.{}.attn_k.weight", "model.layers.{}.self_attn.k_proj.weight", kInterleavedKey},
    }));
constexpr auto kKeys = joined(kDecoderKeys, std::to_array<GgufNames::Key>({
                                                {"expert_count", "num_local_experts"},
                                                {"expert_used_count", "num_experts_per_tok"},
                                            }));

}  // namespace

extern const Family kMixtral{
    .model_type = "mixtral",
    .read = read,
    .unused_tensors = kUnusedTensors,
    .spellings = kSpellings,
    .gguf = {.architecture = "llama", .with = "expert_count", .keys = kKeys, .tensors = kTensors}};

}  // namespace hone
