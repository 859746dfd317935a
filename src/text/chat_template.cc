#include "text/chat_template.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/mmap.h"
#include "ckpt/gguf.h"
#include "text/bridge.h"
#include "text/tokenizer.h"

namespace hone::text {
namespace {

namespace fs = std::filesystem;

// Ten million steps and 4 MiB: far beyond any conversation, and stopped within a second.
constexpr uint64_t kFuel = 10'000'000;
constexpr size_t kOutputBytes = size_t{4} << 20;

std::string token_text(const Tokenizer& tokenizer, std::optional<int32_t> id) {
  return id ? std::string(tokenizer.token(*id)) : std::string();
}

ChatTemplate with_tokens_of(std::string_view source, const Tokenizer& tokenizer) {
  const SpecialIds& ids = tokenizer.special_ids();
  return {source, token_text(tokenizer, ids.bos), token_text(tokenizer, ids.eos)};
}

// "chat_template" is the source, or a list of named ones of which "default" counts.
std::optional<std::string> source_in(const nlohmann::json& config) {
  const auto it = config.find("chat_template");
  if (it == config.end()) return std::nullopt;
  if (it->is_string()) return it->get<std::string>();
  if (it->is_array())
    for (const auto& entry : *it)
      if (entry.is_object() && entry.value("name", "") == "default")
        return entry.value("template", "");
  return std::nullopt;
}

}  // namespace

void ChatTemplate::Free::operator()(HoneTemplate* t) const { hone_template_free(t); }

ChatTemplate::ChatTemplate(std::string_view source, std::string bos, std::string eos)
    : bos_(std::move(bos)), eos_(std::move(eos)) {
  HoneTemplate* made = nullptr;
  check_bridge<ConfigError>(hone_template_new(view(source), &made), "chat template");
  handle_.reset(made);
}

std::optional<ChatTemplate> ChatTemplate::from_folder(const fs::path& folder,
                                                      const Tokenizer& tokenizer) {
  if (const fs::path file = folder / "chat_template.jinja"; fs::exists(file)) {
    const Mmap map(file);
    return with_tokens_of({reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()},
                          tokenizer);
  }
  const fs::path file = folder / "tokenizer_config.json";
  if (!fs::exists(file)) return std::nullopt;
  const std::optional<std::string> source = source_in(read_json(file));
  if (!source) return std::nullopt;
  return with_tokens_of(*source, tokenizer);
}

std::optional<ChatTemplate> ChatTemplate::from_gguf(const ckpt::Gguf& file,
                                                    const Tokenizer& tokenizer) {
  const auto source = file.text("tokenizer.chat_template");
  if (!source) return std::nullopt;
  return with_tokens_of(*source, tokenizer);
}

std::string ChatTemplate::render(std::span<const Message> messages,
                                 const RenderOptions& options) const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Message& m : messages) list.push_back({{"role", m.role}, {"content", m.content}});
  const nlohmann::ordered_json context = {{"messages", std::move(list)},
                                          {"add_generation_prompt", options.add_generation_prompt},
                                          {"bos_token", bos_},
                                          {"eos_token", eos_}};
  HoneText out{};
  check_bridge<ConfigError>(
      hone_template_render(handle_.get(), view(context.dump()),
                           {.fuel = kFuel, .output_bytes = kOutputBytes, .now = options.now}, &out),
      "chat template");
  return take(out);
}

}  // namespace hone::text
