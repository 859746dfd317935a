// The one way from messages to tokens, for training, serving, evaluation and measuring alike.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hone::text {

class ChatTemplate;
class Tokenizer;

struct Message {
  std::string role;     // "system", "user", "assistant", "tool"
  std::string content;  // UTF-8
  bool operator==(const Message&) const = default;
};

struct ChatTokens {
  std::vector<int32_t> ids;
  std::vector<uint8_t> mask;  // 1: the assistant's content, or the token that ends its turn
};

// The ids of the rendered conversation, with nothing added by the tokenizer: a template says its
// own BOS. The mask follows from where the template puts each assistant message, not from looking
// for its text. Throws ConfigError when the template fails, when it does not show an assistant's
// message, or when the text begins with two BOS.
ChatTokens tokenize_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         std::span<const Message> messages);

// The ids of a conversation that the assistant is to answer.
std::vector<int32_t> tokenize_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                     std::span<const Message> messages);

}  // namespace hone::text
