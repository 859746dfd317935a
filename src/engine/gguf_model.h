// A GGUF file seen as a Hugging Face folder: its metadata as a config.json, its tensors under
// checkpoint names and in checkpoint order of rows.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ckpt/gguf.h"
#include "models/family.h"

namespace hone::engine {

// What config.json would say. Throws ConfigError when the architecture has no family.
nlohmann::json config_of(const ckpt::Gguf& gguf, const Family& family);

struct GgufSource {
  std::string name;  // in the file
  GgufNames::Order order;
};
// Checkpoint name to the file's tensor. Throws ConfigError when the file has tensors that the
// family does not know.
std::map<std::string, GgufSource, std::less<>> tensors_of(const ckpt::Gguf& gguf,
                                                          const Family& family, int64_t layers);

// GGUF keeps the two halves of each rotary head interleaved: rows 2i and 2i+1 of a head are rows i
// and i + e/2 of the checkpoint. Undone in place; rows [heads * e, columns].
void undo_interleaving(std::span<float> rows, int64_t heads, int64_t head_dim, int64_t columns);

}  // namespace hone::engine
