// What a model reads and writes: its tokenizer, its chat template, and the tokens that end a turn.
#pragma once

#include <optional>
#include <vector>

#include "engine/model_files.h"
#include "text/chat_template.h"
#include "text/messages.h"
#include "text/tokenizer.h"

namespace hone::engine {

struct Language {
  text::Tokenizer tokenizer;
  std::optional<text::ChatTemplate> chat;
  std::vector<int32_t> stop_tokens;  // of tokenizer, config.json and generation_config.json

  // Throws FileError, ConfigError.
  static Language of(const ModelFiles& files);

  // The model's chat template. Throws ConfigError when it has none.
  const text::ChatTemplate& chat_template() const;
};

}  // namespace hone::engine
