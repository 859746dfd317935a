// A PEFT adapter folder: adapter_config.json and adapter_model.safetensors, as Hugging Face PEFT
// reads and writes them. Plain LoRA without bias; everything else is refused by name.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/type.h"

namespace hone::ckpt {

struct PeftTensor {
  std::string name;  // without PEFT's prefix: "model.layers.0.self_attn.q_proj.lora_A.weight"
  Dims dims;
  std::vector<float> values;
};

struct PeftAdapter {
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  bool dora = false;
  bool rank_stabilised = false;      // scale alpha / sqrt(rank) instead of alpha / rank
  std::vector<std::string> targets;  // last components of module paths
  std::string base_model;
  std::string source;  // the folder it was read from, for messages
  std::vector<PeftTensor> tensors;
};

// Throws FileError when a file is missing or damaged, ConfigError when the adapter is of a kind
// that hone has not.
PeftAdapter read_peft(const std::filesystem::path& folder);

// Writes both files, tensors first, each whole or not at all; the folder is made. Throws FileError.
void write_peft(const std::filesystem::path& folder, const PeftAdapter& adapter);

}  // namespace hone::ckpt
