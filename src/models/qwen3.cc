// Qwen 3, the dense sizes (arXiv:2505.09388): Llama whose queries and keys are normalised by head.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include "models/decoder.h"
#include "models/gguf_names.h"
#include "models/qwen3_attention.h"

namespace hone {
namespace {

using Config = DecoderConfig;

Config config_of(ConfigReader& r) {
  Config c{.head_dim = 128};
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  expect_no_sliding(r, c.layers);
  r.expect("hidden_act", "silu").expect("attention_bias", false);
  ignore_notes(r);
  return c;
}

Architecture read(ConfigReader& r) {
  const Config c = config_of(r);
  return {shape_of(c),
          [c](nn::Scope root) { return stack<PreNormBlock<Qwen3Attention>>(root, c); }};
}

constexpr auto kTensors = joined(kDecoderTensors, kPreNormTensors, kQueryKeyTensors,
                                 query_key_norms(GgufNames::Order::kSame));

}  // namespace

extern const Family kQwen3{
    .model_type = "qwen3",
    .read = read,
    .unused_tensors = kUnusedTensors,
    .gguf = {.architecture = "qwen3", .keys = kDecoderKeys, .tensors = kTensors}};

}  // namespace hone
