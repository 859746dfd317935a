// Qwen 3, the mixtures of experts (arXiv:2505.09388): Qwen 3 some of whose feed-forward layers, by
// default all, are mixtures of many small experts.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include <algorithm>

#include "models/gguf_names.h"
#include "models/qwen3_attention.h"
#include "nn/moe.h"

namespace hone {
namespace {

struct Config : DecoderConfig {
  nn::SparseMlp::Sizes moe;
  std::vector<bool> sparse;  // which layers are mixtures
  double balance = 0;
};

std::vector<bool> read_sparse(ConfigReader& r, int64_t layers) {
  int64_t step = 1;
  std::vector<int64_t> dense;
  r.want("decoder_sparse_step", step, at_least(1))
      .want("mlp_only_layers", dense, between(0, static_cast<double>(layers - 1)));
  std::vector<bool> sparse;
  for (int64_t i = 0; i < layers; ++i)
    sparse.push_back((i + 1) % step == 0 && std::ranges::find(dense, i) == dense.end());
  return sparse;
}

Config config_of(ConfigReader& r) {
  Config c;
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  expect_no_sliding(r, c.layers);
  c.moe = {.experts = 128, .chosen = 8, .ffw = 768, .normalised = false};
  read_experts(r, r.has("num_local_experts") ? "num_local_experts" : "num_experts", c.moe.experts,
               c.moe.chosen);
  r.want("moe_intermediate_size", c.moe.ffw, between(1, 1 << 22))
      .want("norm_topk_prob", c.moe.normalised);
  c.sparse = read_sparse(r, c.layers);
  c.balance = read_router_loss(r);
  r.expect("hidden_act", "silu").expect("attention_bias", false);
  ignore_notes(r);
  return c;
}

// A mixture, or a dense layer.
struct Mlp {
  std::function<Value(Value x, const nn::Context& ctx)> run;

  Mlp(nn::Scope p, const Config& c, size_t layer) {
    if (c.sparse[layer])
      run = nn::SparseMlp(p, c.hidden, c.moe, silu);
    else
      run = DenseMlp(p, c, layer);
  }
  Value operator()(Value x, const nn::Context& ctx) const { return run(x, ctx); }
};

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  ModelShape shape = shape_of(c);
  shape.router_loss = c.balance;
  return {shape, [c](nn::Scope root) { return stack<PreNormBlock<Qwen3Attention, Mlp>>(root, c); }};
}

// Checkpoints before transformers 5 have a matrix a tensor.
constexpr auto kSpellings = std::to_array<Spelling>({
    {".mlp.experts.gate_up_proj",
     {".mlp.experts.{}.gate_proj.weight", ".mlp.experts.{}.up_proj.weight"}},
    {".mlp.experts.down_proj", {".mlp.experts.{}.down_proj.weight"}},
    kSplitExperts,
});

constexpr auto kTensors = joined(kDecoderTensors, kPreNormTensors, kQueryKeyTensors,
                                 query_key_norms(GgufNames::Order::kSame), kExpertTensors);
constexpr auto kKeys =
    joined(kDecoderKeys, std::to_array<GgufNames::Key>({
                             {"expert_count", "num_experts"},
                             {"expert_used_count", "num_experts_per_tok"},
                             {"expert_feed_forward_length", "moe_intermediate_size"},
                         }));
constexpr std::string_view kTrue[] = {"norm_topk_prob"};  // llama.cpp knows no other

}  // namespace

extern const Family kQwen3Moe{
    .model_type = "qwen3_moe",
    .read = read,
    .unused_tensors = kUnusedTensors,
    .spellings = kSpellings,
    .gguf = {.architecture = "qwen3moe", .keys = kKeys, .tensors = kTensors, .always = kTrue}};

}  // namespace hone
