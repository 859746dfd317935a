#include "text/messages.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace hone::text {
namespace {

struct Span {
  size_t start, end;  // bytes of the rendered text
};

// A text that stands for message i and that no template looks into or changes.
std::string sentinel(size_t i, size_t salt) {
  return "\x01hone" + std::to_string(salt) + "-" + std::to_string(i) + "\x01";
}

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const size_t first = s.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view()
                                         : s.substr(first, s.find_last_not_of(kSpace) - first + 1);
}

// The fixed text around the assistant's messages: rendered with a sentinel for each of them, cut
// where the sentinels stand. One more piece than there are such messages.
std::vector<std::string> pieces_around(const ChatTemplate& chat_template,
                                       std::span<const Message> messages) {
  std::vector<Message> marked(messages.begin(), messages.end());
  size_t salt = 0;  // until no message holds the sentinel by itself
  auto taken = [&] {
    return std::ranges::any_of(messages, [&](const Message& m) {
      return m.content.find("\x01hone" + std::to_string(salt) + "-") != std::string::npos;
    });
  };
  while (taken()) ++salt;
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i].role == "assistant") marked[i].content = sentinel(i, salt);
  const std::string text = chat_template.render(marked);

  std::vector<std::string> pieces;
  size_t from = 0;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i].role != "assistant") continue;
    const size_t at = text.find(marked[i].content, from);
    if (at == std::string::npos)
      throw ConfigError("the chat template does not show message {}, the assistant's", i);
    pieces.push_back(text.substr(from, at - from));
    from = at + marked[i].content.size();
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

// Where each assistant message lies in the rendered text: after its piece, as it is or trimmed.
std::vector<Span> assistant_spans(const std::string& text, const std::vector<std::string>& pieces,
                                  std::span<const Message> messages) {
  std::vector<Span> spans;
  size_t at = 0, next = 0;
  auto failed = [&] {
    return ConfigError("the chat template changes the assistant's message {}; it cannot be masked",
                       next);
  };
  for (const Message& m : messages) {
    if (m.role != "assistant") continue;
    if (!std::string_view(text).substr(at).starts_with(pieces[next])) throw failed();
    at += pieces[next].size();
    std::optional<size_t> length;
    for (const std::string_view form : {std::string_view(m.content), trimmed(m.content)}) {
      const std::string_view rest = std::string_view(text).substr(at);
      if (rest.starts_with(form) && rest.substr(form.size()).starts_with(pieces[next + 1]) &&
          !length)
        length = form.size();
    }
    if (!length) throw failed();
    spans.push_back({at, at + *length});
    at += *length;
    ++next;
  }
  return spans;
}

}  // namespace

ChatTokens tokenize_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         std::span<const Message> messages) {
  const std::string text = chat_template.render(messages);
  const std::vector<Span> spans =
      assistant_spans(text, pieces_around(chat_template, messages), messages);
  const std::vector<SpannedToken> tokens = tokenizer.encode_spans(text);
  ChatTokens out;
  size_t span = 0;
  for (const SpannedToken& t : tokens) {
    while (span < spans.size() && t.start > spans[span].end) ++span;
    bool mine = span < spans.size() && t.end > spans[span].start && t.start < spans[span].end;
    // The special token right behind the content ends the turn.
    if (span < spans.size() && t.start == spans[span].end && tokenizer.is_special(t.id))
      mine = true;
    out.ids.push_back(t.id);
    out.mask.push_back(mine);
  }
  const auto bos = tokenizer.special_ids().bos;
  if (bos && out.ids.size() > 1 && out.ids[0] == *bos && out.ids[1] == *bos)
    throw ConfigError(
        "the conversation begins with two BOS tokens: the template writes one already");
  return out;
}

std::vector<int32_t> tokenize_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                     std::span<const Message> messages) {
  return tokenizer.encode(chat_template.render(messages, {.add_generation_prompt = true}), false);
}

}  // namespace hone::text
