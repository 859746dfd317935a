// A model that was trained whole, as the Hugging Face folder that transformers and hone load.
#pragma once

#include <filesystem>

#include "engine/model.h"

namespace hone::engine {

inline constexpr size_t kShardBytes = size_t{5'000'000'000};

// Writes the weights in shards of at most `shard_bytes` (or of one tensor) as f32, config.json,
// generation_config.json, the tokenizer and the chat template; the folder appears whole or not at
// all, and one of that name is replaced. What a GGUF file was started from is written as a folder
// would hold it; towers that hone does not run are written as they were. Throws FileError, and
// ConfigError when a part of the model is not trained or cannot be written down.
void save_model(const Model& model, const std::filesystem::path& folder,
                size_t shard_bytes = kShardBytes);

}  // namespace hone::engine
