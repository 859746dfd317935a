// Rotary position embedding (Su et al., arXiv:2104.09864) in the half-split layout of Hugging Face
// checkpoints: element i of a head turns with element i + e/2.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace hone::nn {

// Angle per position of each of the e/2 pairs: theta^(-2i/e).
std::vector<double> rope_frequencies(int64_t head_dim, double theta);

// Only the first `share` of the pairs turn; the others have the angle 0 everywhere.
std::vector<double> partial(std::vector<double> frequencies, double share);

// Llama 3.1's stretching of long wavelengths: those over original/low turn slower by `factor`,
// those under original/high stay, between them the two are blended.
struct Llama3Scaling {
  double factor = 8, low_freq_factor = 1, high_freq_factor = 4;
  int64_t original_max_position_embeddings = 8192;
};
std::vector<double> scaled(std::vector<double> frequencies, const Llama3Scaling& scaling);

// The turn of every position.
struct Rope {
  Value cos, sin;  // f32 [b, s, e/2]
  // positions are i32 [b, s]
  Rope(Value positions, const std::vector<double>& frequencies);
  Value operator()(Value x) const;  // [b, s, heads, e], computed in f32
};

}  // namespace hone::nn
