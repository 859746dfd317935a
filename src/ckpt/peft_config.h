// adapter_config.json, to and from the members of a PeftAdapter.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ckpt/peft.h"

namespace hone::ckpt {

// `file` stands for it in messages. Throws ConfigError.
PeftAdapter parse_peft_config(const nlohmann::json& config, const std::string& file);

// Every key that PEFT 0.21 writes for LoRA, and what else the adapter was read with.
nlohmann::json peft_config(const PeftAdapter& adapter);

}  // namespace hone::ckpt
