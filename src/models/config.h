// What the families' config readers share.
#pragma once

#include <vector>

#include "base/json.h"

namespace hone {

// Angle per position of each pair of a head: "rope_theta" (default: `theta`), and what
// "rope_scaling" or its newer name "rope_parameters" asks for: none, linear or llama3. Also the
// keys that a GGUF file adds: "rope_divisors", "rope_dimensions".
std::vector<double> read_rope(ConfigReader& r, int64_t head_dim, double theta);

// One of the nested objects that "rope_parameters" holds where layers differ.
std::vector<double> read_rope_object(ConfigReader r, int64_t head_dim, double theta);

// "layer_types": whether each layer's attention slides. Where the key is absent, every `period`th
// layer is full and the others slide; 0: none slides.
std::vector<bool> read_sliding(ConfigReader& r, int64_t layers, int64_t period);

// The windows of layers that slide so, 0 for the others: "sliding_window", `window` where that is
// absent.
std::vector<int64_t> read_windows(ConfigReader& r, int64_t layers, int64_t window, int64_t period);
// Of a family whose layers are all alike: "sliding_window", or none.
std::vector<int64_t> read_windows(ConfigReader& r, int64_t layers);

// Throws ConfigError where a layer slides; the keys that would say how are ignored.
void expect_no_sliding(ConfigReader& r, int64_t layers);

// The number of experts, under the name `count` has in this family, and how many each token meets.
void read_experts(ConfigReader& r, const char* count, int64_t& experts, int64_t& chosen);

// The weight of the load-balance loss that the config asks for while training: 0 where
// "output_router_logits" is not true.
double read_router_loss(ConfigReader& r);

// The "text_config" of a model that also sees or hears, whose other keys are ignored. Throws
// ConfigError when there is none.
ConfigReader text_config(ConfigReader& r);

// Keys of any model that say nothing about its arithmetic.
void ignore_notes(ConfigReader& r);

}  // namespace hone
