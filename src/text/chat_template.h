// A ChatTemplate renders messages to the text that a model was trained to continue.
//
// It is Jinja source, with the settings, the Python methods and the functions that the templates of
// model repositories are written for: trim_blocks, lstrip_blocks, loop controls, raise_exception(),
// strftime_now(), tojson as json.dumps. Templates come with models, so they are foreign: a budget
// bounds their time and memory, and they reach nothing but the variables that they are given.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/message.h"

struct HoneTemplate;

namespace hone::ckpt {
class Gguf;
}

namespace hone::text {

class Tokenizer;

// The template is broken, refuses these messages, or wants more than its budget. One line.
struct TemplateError : ConfigError {
  using ConfigError::ConfigError;
};

struct RenderOptions {
  bool add_generation_prompt = false;  // end where the assistant begins to speak
  int64_t now = 0;  // what strftime_now() tells: seconds since 1970, UTC. The caller's, so that the
                    // same messages give the same text.
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();  // "tools", ...
};

class ChatTemplate {
 public:
  // `name` stands for the source in messages. The texts of the special tokens become the variables
  // bos_token, eos_token, unk_token and pad_token. Throws TemplateError.
  ChatTemplate(std::string_view source, std::string name, const Tokenizer& tokenizer);

  // Of a model; nothing when it has none. Some have several: `variant` chooses by name.
  //   folder: chat_template.jinja, else "chat_template" of tokenizer_config.json
  //   GGUF: tokenizer.chat_template, or tokenizer.chat_template.VARIANT
  static std::optional<ChatTemplate> from_folder(const std::filesystem::path& folder,
                                                 const Tokenizer& tokenizer,
                                                 std::string_view variant = "default");
  static std::optional<ChatTemplate> from_gguf(const ckpt::Gguf& file, const Tokenizer& tokenizer,
                                               std::string_view variant = "default");

  // Throws TemplateError.
  std::string render(std::span<const Message> messages, const RenderOptions& options = {}) const;

  // Two templates with the same render the same: a digest of the source and the special tokens.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  struct Free {
    void operator()(HoneTemplate* chat_template) const;
  };

  std::string name_, fingerprint_;
  std::unique_ptr<HoneTemplate, Free> handle_;
  nlohmann::ordered_json special_tokens_ = nlohmann::ordered_json::object();
};

}  // namespace hone::text
