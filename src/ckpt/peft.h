// A PEFT adapter folder: adapter_config.json, adapter_model.safetensors and README.md, as Hugging
// Face PEFT reads and writes them. LoRA, rsLoRA and DoRA on linear layers, and modules that are
// saved whole; what changes the arithmetic otherwise is refused by name.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/type.h"

namespace hone::ckpt {

struct PeftTensor {
  // Without PEFT's prefix: "model.layers.0.self_attn.q_proj.lora_A.weight", "lm_head.weight".
  std::string name;
  Dims dims;
  std::vector<float> values;
};

// Ends of module paths, or one regular expression of whole paths.
struct PeftModules {
  std::vector<std::string> names;
  bool expression = false;
  bool operator==(const PeftModules&) const = default;
};

struct PeftAdapter {
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  bool dora = false;
  bool rank_stabilised = false;  // scale alpha / sqrt(rank) instead of alpha / rank
  PeftModules targets, exclude;
  std::vector<std::string> parameters;  // target_parameters: ends of paths of weights
  // By expressions of the end of a path, from a dot on; the first that matches.
  std::map<std::string, int64_t> rank_pattern;
  std::map<std::string, double> alpha_pattern;
  std::vector<std::string> modules_to_save;
  bool ensure_weight_tying = false;      // a saved embedding is the head too
  std::vector<int64_t> layers;           // layers_to_transform; empty means all
  std::vector<std::string> layer_lists;  // layers_pattern
  std::string base_model;
  std::string source;     // the folder it was read from, for messages
  nlohmann::json config;  // as it was read; what is not a member here is written again
  std::vector<std::string> unknown_keys;  // of config, which PEFT may have meaning for
  std::vector<PeftTensor> tensors;
};

// Throws FileError when a file is missing or damaged, ConfigError when the adapter is of a kind
// that hone has not.
PeftAdapter read_peft(const std::filesystem::path& folder);

// Writes the files, tensors first, each whole or not at all; the folder is made. Throws FileError.
void write_peft(const std::filesystem::path& folder, const PeftAdapter& adapter);

}  // namespace hone::ckpt
