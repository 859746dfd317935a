#include "engine/language.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json.h"

namespace hone::engine {
namespace {

void add(std::vector<int32_t>& ids, std::optional<int32_t> id) {
  if (id && std::ranges::find(ids, *id) == ids.end()) ids.push_back(*id);
}

// "eos_token_id" of config.json and generation_config.json: one id or a list.
void add_eos(std::vector<int32_t>& ids, const nlohmann::json& config) {
  const auto eos = config.find("eos_token_id");
  if (eos == config.end()) return;
  for (const auto& id : eos->is_array() ? *eos : nlohmann::json::array({*eos}))
    if (id.is_number_integer() && id >= 0 && id <= std::numeric_limits<int32_t>::max())
      add(ids, id.get<int32_t>());
}

}  // namespace

Language Language::of(const ModelFiles& files) {
  const bool folder = files.gguf() == nullptr;
  Language l{folder ? text::Tokenizer::from_folder(files.path())
                    : text::Tokenizer::from_gguf(*files.gguf()),
             std::nullopt,
             {}};
  l.chat = folder ? text::ChatTemplate::from_folder(files.path(), l.tokenizer)
                  : text::ChatTemplate::from_gguf(*files.gguf(), l.tokenizer);
  add(l.stop_tokens, l.tokenizer.special_ids().eos);
  add(l.stop_tokens, l.tokenizer.special_ids().eot);
  add_eos(l.stop_tokens, files.config());
  const std::filesystem::path generation = files.path() / "generation_config.json";
  if (std::filesystem::exists(generation)) add_eos(l.stop_tokens, read_json(generation));
  return l;
}

const text::ChatTemplate& Language::chat_template() const {
  if (!chat)
    throw ConfigError(
        "the model has no chat template (chat_template.jinja, tokenizer_config.json or "
        "tokenizer.chat_template)");
  return *chat;
}

}  // namespace hone::engine
