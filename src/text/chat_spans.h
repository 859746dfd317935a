// Where a template puts messages in the text that it renders.
//
// Found by rendering, never by looking for the messages' own words: the conversation is rendered a
// second time with a unique marker in place of each message in question. What stands between the
// markers is the template's; between those pieces, in the true text, stand the messages, as they
// are or trimmed. Where a template looks into an assistant's message (to move its reasoning, say),
// the text that it gives up to the message is compared with the whole instead.
//
// An assistant's message that calls tools or reasons is all that the template writes for it: what
// it adds to the text before it, or what stands where a plain answer would.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/chat_template.h"

namespace hone::text {

struct ChatSpan {
  size_t message;     // its index
  size_t start, end;  // bytes of the rendered text
  size_t turn_end;    // [end, turn_end): what the template writes to end this turn
};

// The spans of the messages with these indices (ascending) in `text`, which is the template's
// rendering of `messages` with `options`; nothing where the template rewrites one of them.
std::optional<std::vector<ChatSpan>> find_chat_spans(const ChatTemplate& chat_template,
                                                     std::span<const Message> messages,
                                                     std::span<const size_t> wanted,
                                                     const RenderOptions& options,
                                                     std::string_view text);

}  // namespace hone::text
