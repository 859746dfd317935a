#include "engine/language.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"

namespace hone::engine {
namespace {

void add(std::vector<int32_t>& ids, std::optional<int64_t> id) {
  if (id && std::ranges::find(ids, *id) == ids.end()) ids.push_back(static_cast<int32_t>(*id));
}

// generation_config.json may name one eos_token_id or a list.
void add_generation_config(std::vector<int32_t>& ids, const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  const nlohmann::json config = read_json(file);
  const auto eos = config.find("eos_token_id");
  if (eos == config.end()) return;
  for (const auto& id : eos->is_array() ? *eos : nlohmann::json::array({*eos}))
    if (id.is_number_integer()) add(ids, id.get<int64_t>());
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
  if (folder) add_generation_config(l.stop_tokens, files.path() / "generation_config.json");
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
