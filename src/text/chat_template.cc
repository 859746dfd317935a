#include "text/chat_template.h"

#include "base/json.h"
#include "base/mmap.h"
#include "base/sha256.h"
#include "ckpt/gguf.h"
#include "text/bridge.h"
#include "text/tokenizer.h"

namespace hone::text {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A real template takes some hundred instructions a message, and reads and writes each byte of the
// messages a few times; one unit of fuel is an instruction or 64 bytes.
constexpr uint64_t kFuel = 200'000;
constexpr uint64_t kFuelPerByte = 1;
constexpr size_t kOutputBytes = size_t{1} << 20;
constexpr size_t kOutputPerByte = 8;  // tojson can make six bytes of one

std::string dump(const Json& json, const std::string& name) {
  try {
    return json.dump();
  } catch (const nlohmann::json::type_error&) {
    throw TemplateError("{}: a message is not UTF-8", name);
  }
}

// "chat_template" is the source, or a list of {"name": ..., "template": ...}.
std::optional<std::string> source_in(const nlohmann::json& config, std::string_view variant) {
  const auto found = config.find("chat_template");
  if (found == config.end()) return std::nullopt;
  if (found->is_string() && variant == "default") return found->get<std::string>();
  if (!found->is_array()) return std::nullopt;
  for (const auto& entry : *found)
    if (entry.is_object() && entry.value("name", "") == variant) return entry.value("template", "");
  return std::nullopt;
}

}  // namespace

void ChatTemplate::Free::operator()(HoneTemplate* chat_template) const {
  hone_template_free(chat_template);
}

ChatTemplate::ChatTemplate(std::string_view source, std::string name, const Tokenizer& tokenizer)
    : name_(std::move(name)) {
  HoneTemplate* handle = nullptr;
  check_bridge<TemplateError>(hone_template_new(view(source), &handle), name_);
  handle_.reset(handle);
  const auto set = [&](const char* variable, std::optional<int32_t> id) {
    if (id) special_tokens_[variable] = tokenizer.token(*id);
  };
  const SpecialIds& ids = tokenizer.special_ids();
  set("bos_token", ids.bos);
  set("eos_token", ids.eos);
  set("unk_token", ids.unk);
  set("pad_token", ids.pad);
  fingerprint_ = sha256(fmt::format("{}\n{}", special_tokens_.dump(), source));
}

std::optional<ChatTemplate> ChatTemplate::from_folder(const fs::path& folder,
                                                      const Tokenizer& tokenizer,
                                                      std::string_view variant) {
  const fs::path jinja = folder / "chat_template.jinja", config = folder / "tokenizer_config.json";
  if (variant == "default" && exists(jinja)) {
    const Mmap map(jinja);
    const auto bytes = map.bytes();
    return ChatTemplate({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, jinja.string(),
                        tokenizer);
  }
  if (!exists(config)) return std::nullopt;
  const auto source = source_in(read_json(config), variant);
  if (!source) return std::nullopt;
  return ChatTemplate(*source, config.string(), tokenizer);
}

std::optional<ChatTemplate> ChatTemplate::from_gguf(const ckpt::Gguf& file,
                                                    const Tokenizer& tokenizer,
                                                    std::string_view variant) {
  std::string key = "tokenizer.chat_template";
  if (variant != "default") key += fmt::format(".{}", variant);
  const auto source = file.text(key);
  if (!source) return std::nullopt;
  return ChatTemplate(*source, fmt::format("{}, {}", file.path(), key), tokenizer);
}

std::string ChatTemplate::render(std::span<const Message> messages,
                                 const RenderOptions& options) const {
  Json context = special_tokens_;
  context["tools"] = context["documents"] = nullptr;  // templates expect these to be there
  for (const auto& [key, value] : options.variables.items()) context[key] = value;
  context["add_generation_prompt"] = options.add_generation_prompt;
  Json& list = context["messages"] = Json::array();
  for (const Message& message : messages) list.push_back(to_json(message));
  const std::string variables = dump(context, name_);
  const HoneRenderLimits limits{.fuel = kFuel + kFuelPerByte * variables.size(),
                                .output_bytes = kOutputBytes + kOutputPerByte * variables.size(),
                                .now = options.now};
  HoneText text;
  check_bridge<TemplateError>(hone_template_render(handle_.get(), view(variables), limits, &text),
                              name_);
  return take(text);
}

}  // namespace hone::text
