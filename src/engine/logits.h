// The logits of every position of one sequence: what a reference implementation is compared with.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/program.h"
#include "engine/weights.h"

namespace hone::engine {

// f32 [tokens, vocab], row-major. Throws ConfigError when a token is no token of the model.
std::vector<float> logits(const Device& device, const Family& family, const nlohmann::json& config,
                          const std::optional<nn::Lora>& lora, const Buffers& weights,
                          const Buffers& adapter, std::span<const int32_t> tokens);

}  // namespace hone::engine
