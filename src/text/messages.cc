#include "text/messages.h"

#include <algorithm>

#include "text/chat_spans.h"

namespace hone::text {
namespace {

using Tokens = std::vector<SpannedToken>;
using Spans = std::vector<ChatSpan>;

// The end of the special token that ends a turn; of the message, where the template writes none.
size_t learnt_end(const Tokenizer& tokenizer, const Tokens& tokens, const ChatSpan& span) {
  auto t = std::ranges::lower_bound(tokens, span.end, {}, &SpannedToken::start);
  for (; t != tokens.end() && t->end <= span.turn_end; ++t)
    if (tokenizer.is_special(t->id)) return t->end;
  return span.end;
}

bool inside_token(const Tokens& tokens, size_t at) {
  const auto t = std::ranges::upper_bound(tokens, at, {}, &SpannedToken::end);
  return t != tokens.end() && t->start < at;
}

// Where a message begins, or ends without a token for that, in the middle of a token: the model
// would see and make other tokens there than the whole text has.
std::vector<size_t> bad_joints(const Tokenizer& tokenizer, const Tokens& tokens,
                               const Spans& spans) {
  std::vector<size_t> joints;
  for (const ChatSpan& span : spans) {
    const bool ended = learnt_end(tokenizer, tokens, span) > span.end;
    if (inside_token(tokens, span.start)) joints.push_back(span.start);
    if (!ended && span.end > span.start && inside_token(tokens, span.end))
      joints.push_back(span.end);
  }
  return joints;
}

// The tokens of the text, cut at bad joints; but not where each cut would put a space.
Tokens encode(const Tokenizer& tokenizer, std::string_view text, const Spans& spans) {
  Tokens whole = tokenizer.encode_spans(text);
  if (tokenizer.adds_space()) return whole;
  std::vector<size_t> cuts = bad_joints(tokenizer, whole, spans);
  if (cuts.empty()) return whole;
  cuts.push_back(text.size());
  Tokens tokens;
  size_t from = 0;
  for (const size_t cut : cuts) {
    const auto offset = static_cast<uint32_t>(from);
    for (const SpannedToken& t : tokenizer.encode_spans(text.substr(from, cut - from)))
      tokens.push_back({t.id, t.start + offset, t.end + offset});
    from = cut;
  }
  return tokens;
}

ChatTokens with_mask(const Tokenizer& tokenizer, const Tokens& tokens, const Spans& spans) {
  ChatTokens result;
  auto span = spans.begin();
  size_t end = spans.empty() ? 0 : learnt_end(tokenizer, tokens, *span);
  for (const SpannedToken& t : tokens) {
    while (span != spans.end() && t.start >= end && ++span != spans.end())
      end = learnt_end(tokenizer, tokens, *span);
    // A token of no bytes (a space that the tokenizer puts before a message) belongs to what
    // follows.
    const bool learnt = span != spans.end() && (t.start >= span->start || t.end > span->start);
    result.ids.push_back(t.id);
    result.mask.push_back(learnt);
  }
  return result;
}

ChatTokens all_learnt(const Tokens& tokens) {
  ChatTokens result;
  for (const SpannedToken& t : tokens) result.ids.push_back(t.id);
  result.mask.assign(result.ids.size(), 1);
  return result;
}

// The rendered text, and the assistant's messages in it when they can be told apart.
struct Rendered {
  std::string text;
  std::optional<Spans> spans;

  Rendered(const ChatTemplate& chat_template, std::span<const Message> messages,
           const RenderOptions& options) try
      : text(chat_template.render(messages, options)),
        spans(find_chat_spans(chat_template, messages, options, text)) {
  } catch (const TemplateError& e) {
    throw ChatError(ChatError::kTemplate, "{}", e.what());
  }
};

void refuse_doubled_bos(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  const auto bos = tokenizer.special_ids().bos;
  if (bos && ids.size() > 1 && ids[0] == *bos && ids[1] == *bos)
    throw ChatError(ChatError::kDoubledBos,
                    "the conversation begins with two {}: the template writes one already",
                    tokenizer.token(*bos));
}

}  // namespace

ChatTokens tokenize_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         std::span<const Message> messages, Learn learn,
                         const RenderOptions& options) {
  const bool all = learn == Learn::kAll;
  if (!all && std::ranges::find(messages, "assistant", &Message::role) == messages.end())
    throw ChatError(ChatError::kNoAssistant, "no message is the assistant's: nothing to learn");
  const Rendered rendered(chat_template, messages, options);
  if (!all && !rendered.spans)
    throw ChatError(
        ChatError::kUnmarkable,
        "the chat template rewrites an assistant message: what to learn cannot be told");
  const Spans spans = rendered.spans.value_or(Spans());
  const Tokens tokens = encode(tokenizer, rendered.text, spans);
  ChatTokens result = all ? all_learnt(tokens) : with_mask(tokenizer, tokens, spans);
  refuse_doubled_bos(tokenizer, result.ids);
  return result;
}

std::vector<int32_t> tokenize_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                     std::span<const Message> messages, RenderOptions options) {
  options.add_generation_prompt = true;
  return tokenize_chat(tokenizer, chat_template, messages, Learn::kAll, options).ids;
}

}  // namespace hone::text
