// Mistral (arXiv:2310.06825), also Nemo and Small: Llama whose queries may see a window of keys
// only.
//   b batch  s position  d hidden  h query head  k key-value head  e head dimension  f feed-forward
#include "models/mistral_attention.h"

namespace hone {
namespace {

DecoderConfig config_of(ConfigReader& r) {
  DecoderConfig c;
  read_sizes(r, c);
  c.rope = read_rope(r, c.head_dim, /*theta=*/10000);
  c.windows = read_windows(r, c.layers);
  r.expect("hidden_act", "silu");
  ignore_notes(r);
  return c;
}

Architecture read(ConfigReader& r) {
  const DecoderConfig c = config_of(r);
  return {shape_of(c),
          [c](nn::Scope root) { return stack<PreNormBlock<MistralAttention>>(root, c); }};
}

}  // namespace

// In GGUF files it is "llama".
extern const Family kMistral{
    .model_type = "mistral", .read = read, .unused_tensors = kUnusedTensors, .gguf = {}};

}  // namespace hone
