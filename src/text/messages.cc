#include "text/messages.h"

#include <algorithm>
#include <unordered_set>

#include "text/chat_spans.h"
#include "text/utf8.h"

namespace hone::text {
namespace {

using Tokens = std::vector<SpannedToken>;
using Spans = std::vector<ChatSpan>;

// An answer in the rendered text, and where what is learnt of it ends: behind the special token
// that ends its turn, or with the answer where there is none.
struct Answer {
  size_t message;  // its index
  size_t start, end, learnt_end;

  bool ended() const { return learnt_end > end; }
  bool empty() const { return learnt_end == start; }
};

// Special tokens that stand before the first answer: they begin turns.
std::unordered_set<int32_t> turn_beginnings(const Tokenizer& tokenizer, const Tokens& tokens,
                                            const Spans& spans) {
  std::unordered_set<int32_t> ids;
  for (const SpannedToken& t : tokens)
    if (!spans.empty() && t.end <= spans.front().start && tokenizer.is_special(t.id))
      ids.insert(t.id);
  return ids;
}

std::vector<Answer> find_answers(const Tokenizer& tokenizer, std::string_view text,
                                 const Tokens& tokens, const Spans& spans) {
  const auto beginnings = turn_beginnings(tokenizer, tokens, spans);
  std::vector<Answer> answers;
  for (const ChatSpan& span : spans) {
    Answer& answer = answers.emplace_back(span.message, span.start, span.end, span.end);
    const size_t past_space = span.end + leading_space(text.substr(span.end));
    const size_t limit = std::max(span.turn_end, past_space);
    auto t = std::ranges::lower_bound(tokens, span.end, {}, &SpannedToken::start);
    while (t != tokens.end() && t->start <= limit && !tokenizer.is_special(t->id)) ++t;
    if (t == tokens.end() || t->start > limit) continue;
    // Some templates end a turn only when another follows, so that it is not in turn_end.
    const bool ends_turn =
        t->end <= span.turn_end || (t->start <= past_space && !beginnings.contains(t->id));
    if (ends_turn) answer.learnt_end = t->end;
  }
  return answers;
}

// The places where an answer begins or ends in the middle of a token, although the model sees the
// end of a token there: at the end of the prompt, and where no token ends the turn.
// `generated(answer)` says that the prompt ends earlier and the model also writes what stands
// between.
template <class Generated>
std::vector<size_t> bad_joints(const Tokens& tokens, const std::vector<Answer>& answers,
                               const Generated& generated) {
  const auto inside_token = [&](size_t at) {
    const auto t = std::ranges::upper_bound(tokens, at, {}, &SpannedToken::end);
    return t != tokens.end() && t->start < at;
  };
  std::vector<size_t> joints;
  for (const Answer& a : answers) {
    if (inside_token(a.start) && !generated(a)) joints.push_back(a.start);
    if (!a.ended() && a.end > a.start && inside_token(a.end)) joints.push_back(a.end);
  }
  return joints;
}

// The tokens of the text in pieces, each tokenised by itself.
Tokens encode_pieces(const Tokenizer& tokenizer, std::string_view text, std::vector<size_t> cuts) {
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

bool covers(const Learn& learn, std::string_view role) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(learn.roles, name) != learn.roles.end();
  };
  return has(role) || (role == "developer" && has("system")) || (role == "function" && has("tool"));
}

bool is_assistant(const Message& message) { return message.role == "assistant"; }

// One a message: is it to be learnt?
std::vector<bool> chosen(std::span<const Message> messages, const Learn& learn) {
  const auto last = std::find_if(messages.rbegin(), messages.rend(), is_assistant);
  std::vector<bool> result;
  for (const Message& m : messages) {
    const bool is_last = last != messages.rend() && &m == &*last;
    result.push_back(
        m.train.value_or(learn.all || covers(learn, m.role) || (learn.last_turn && is_last)));
  }
  return result;
}

// The mask with `inside` for the tokens of the answers that are to be learnt, or not, and its
// opposite elsewhere.
ChatTokens mask_answers(const Tokens& tokens, const std::vector<Answer>& answers, bool inside) {
  ChatTokens result;
  auto answer = answers.begin();
  for (const SpannedToken& t : tokens) {
    while (answer != answers.end() && (t.start >= answer->learnt_end || answer->empty())) ++answer;
    // A token of no bytes is a space that the tokenizer puts before what follows.
    const bool within =
        answer != answers.end() && (t.start >= answer->start || t.end > answer->start);
    result.ids.push_back(t.id);
    result.mask.push_back(within == inside);
  }
  return result;
}

// The rendered text, and where the messages are: all of the assistant's and those `needed`, or
// only these; nothing when they cannot be told apart.
struct Rendered {
  std::string text;
  std::optional<Spans> spans;

  Rendered(const ChatTemplate& chat_template, std::span<const Message> messages,
           const std::vector<bool>& needed, const RenderOptions& options) try
      : text(chat_template.render(messages, options)) {
    std::vector<size_t> all, few;
    for (size_t i = 0; i < messages.size(); ++i) {
      if (needed[i]) few.push_back(i);
      if (needed[i] || is_assistant(messages[i])) all.push_back(i);
    }
    spans = find_chat_spans(chat_template, messages, all, options, text);
    if (!spans && few.size() < all.size() && !few.empty())
      spans = find_chat_spans(chat_template, messages, few, options, text);
  } catch (const TemplateError& e) {
    throw ChatError(ChatError::kTemplate, "{}", e.what());
  }
};

// Does the template let the assistant speak before `start`, and write the rest up to there itself
// when the answer is known?
bool speaks_before(const ChatTemplate& chat_template, std::span<const Message> messages,
                   RenderOptions options, std::string_view text, size_t start) {
  options.add_generation_prompt = true;
  try {
    const std::string prompt = chat_template.render(messages, options);
    return prompt.size() < start && text.starts_with(prompt);
  } catch (const TemplateError&) {
    return false;
  }
}

void refuse_doubled_bos(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  const auto bos = tokenizer.special_ids().bos;
  if (bos && ids.size() > 1 && ids[0] == *bos && ids[1] == *bos)
    throw ChatError(ChatError::kDoubledBos,
                    "the conversation begins with two {}: the template writes one already",
                    tokenizer.token(*bos));
}

// Else an answer that is a call alone would teach nothing but its end.
void refuse_lost_calls(const ChatTemplate& chat_template, std::span<const Message> messages,
                       const RenderOptions& options, std::string_view text) {
  if (std::ranges::none_of(messages, &Message::calls_tools)) return;
  std::vector<Message> without(messages.begin(), messages.end());
  for (Message& m : without) m.extra.erase("tool_calls");
  try {
    if (chat_template.render(without, options) != text) return;
  } catch (const TemplateError&) {
    return;
  }
  throw ChatError(ChatError::kTemplate, "the chat template leaves out tool calls");
}

}  // namespace

const Learn Learn::kAssistant{.all = false, .roles = {"assistant"}, .last_turn = false};
const Learn Learn::kAll{.all = true, .roles = {}, .last_turn = false};

ChatTokens tokenize_chat(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         std::span<const Message> messages, const Learn& learn,
                         const RenderOptions& options) {
  const std::vector<bool> learnt = chosen(messages, learn);
  if (!learn.all && std::ranges::find(learnt, true) == learnt.end())
    throw ChatError(ChatError::kNoAssistant, "no message is one to learn: {}",
                    learn.roles == Learn::kAssistant.roles && !learn.last_turn
                        ? "none is the assistant's"
                        : "none has a role that loss_on names");
  std::vector<bool> needed = learnt;
  if (learn.all) needed.flip();  // those that are not learnt must be told apart
  const Rendered rendered(chat_template, messages, needed, options);
  refuse_lost_calls(chat_template, messages, options, rendered.text);
  if (!rendered.spans && std::ranges::find(needed, true) != needed.end())
    throw ChatError(ChatError::kUnmarkable,
                    "the chat template rewrites a message: what to learn cannot be told");

  Tokens tokens = tokenizer.encode_spans(rendered.text);
  auto answers = find_answers(tokenizer, rendered.text, tokens, rendered.spans.value_or(Spans()));
  if (!tokenizer.adds_space()) {  // else each piece would begin with a space
    std::vector<Answer> spoken;
    std::ranges::copy_if(answers, std::back_inserter(spoken),
                         [&](const Answer& a) { return is_assistant(messages[a.message]); });
    const auto joints = bad_joints(tokens, spoken, [&](const Answer& a) {
      return speaks_before(chat_template, messages.first(a.message), options, rendered.text,
                           a.start);
    });
    if (!joints.empty()) tokens = encode_pieces(tokenizer, rendered.text, joints);
  }
  int spoken = 0, ended = 0;
  for (const Answer& a : answers) {
    if (!learnt[a.message] || !is_assistant(messages[a.message])) continue;
    ++spoken;
    ended += a.ended() ? 1 : 0;
  }
  std::erase_if(answers, [&](const Answer& a) { return !needed[a.message]; });
  ChatTokens result = mask_answers(tokens, answers, /*inside=*/!learn.all);
  result.answers = spoken;
  result.ended = ended;
  refuse_doubled_bos(tokenizer, result.ids);
  if (!learn.all && std::ranges::find(result.mask, 0) == result.mask.end())
    throw ChatError(
        ChatError::kUnmasked,
        "every token would be learnt: the chat template writes nothing around messages");
  return result;
}

std::vector<int32_t> tokenize_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                     std::span<const Message> messages, RenderOptions options) {
  options.add_generation_prompt = true;
  return tokenize_chat(tokenizer, chat_template, messages, Learn::kAll, options).ids;
}

}  // namespace hone::text
