// A chat template: the Jinja source that turns messages into the text a model was tuned on.
//
// Rendered by minijinja behind bridge/hone_bridge.h, within limits of time and output. Every error
// of a template, its own raise_exception() included, is a ConfigError of one line.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "text/messages.h"

struct HoneTemplate;

namespace hone::ckpt {
class Gguf;
}

namespace hone::text {

class Tokenizer;

struct RenderOptions {
  bool add_generation_prompt = false;
  int64_t now = 0;  // what the template's clock says: seconds since 1970
};

class ChatTemplate {
 public:
  // bos and eos are the texts that the template's bos_token and eos_token stand for.
  ChatTemplate(std::string_view source, std::string bos, std::string eos);
  // chat_template.jinja, else tokenizer_config.json's "chat_template"; nothing when there is none.
  static std::optional<ChatTemplate> from_folder(const std::filesystem::path& folder,
                                                 const Tokenizer& tokenizer);
  // tokenizer.chat_template; nothing when there is none.
  static std::optional<ChatTemplate> from_gguf(const ckpt::Gguf& file, const Tokenizer& tokenizer);

  std::string render(std::span<const Message> messages, const RenderOptions& options = {}) const;

 private:
  struct Free {
    void operator()(HoneTemplate* chat_template) const;
  };
  std::unique_ptr<HoneTemplate, Free> handle_;
  std::string bos_, eos_;
};

}  // namespace hone::text
