// The one way from messages to tokens, for training, serving, evaluation and measuring alike.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/chat_template.h"
#include "text/message.h"
#include "text/tokenizer.h"

namespace hone::text {

// A conversation that cannot be learnt from or answered; a caller may count them by kind.
struct ChatError : ConfigError {
  enum Kind {
    kTemplate,     // the template fails, or refuses the messages
    kNoAssistant,  // there is nothing to learn: no message is one that the scope names
    kUnmarkable,   // the template rewrites a message, so that it cannot be told apart
    kUnmasked,     // every token would be learnt although only some messages should
    kDoubledBos,   // the text begins with two BOS
  };
  template <class... Args>
  ChatError(Kind k, fmt::format_string<Args...> format, Args&&... args)
      : ConfigError(format, std::forward<Args>(args)...), kind(k) {}
  Kind kind;
};

struct ChatTokens {
  std::vector<int32_t> ids;
  std::vector<uint8_t> mask;   // one an id; 1: to be learnt
  int answers = 0, ended = 0;  // messages of the assistant that are learnt; those of them whose
                               // end of turn is in the mask
};

// Which tokens are learnt: all, or those of the messages of some roles, each with the token that
// ends its turn. Message::train overrides it.
struct Learn {
  bool all = false;
  std::vector<std::string> roles;  // "system" has "developer" with it, "tool" has "function"
  bool last_turn = false;          // besides: the last message of the assistant

  static const Learn kAssistant, kAll;
  bool operator==(const Learn&) const = default;
};

// The ids of the rendered conversation, with nothing added by the tokenizer: a template writes its
// own BOS. The mask follows from where the template puts each message (text/chat_spans.h). The ids
// do not depend on what is learnt. Throws ChatError.
ChatTokens tokenize_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         std::span<const Message> messages, const Learn& learn = Learn::kAssistant,
                         const RenderOptions& options = {});

// The ids of a conversation that the assistant is to answer. Where the template only adds to that
// text when the answer is there, they are the first ids of the whole conversation. Throws
// ChatError.
std::vector<int32_t> tokenize_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                     std::span<const Message> messages, RenderOptions options = {});

}  // namespace hone::text
