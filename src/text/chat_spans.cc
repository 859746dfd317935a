#include "text/chat_spans.h"

#include <algorithm>

#include "text/utf8.h"

namespace hone::text {
namespace {

using Spans = std::vector<ChatSpan>;
using MaybeSpans = std::vector<std::optional<ChatSpan>>;  // one a message

bool is_assistant(const Message& message) { return message.role == "assistant"; }

bool is_blank(std::string_view text) { return leading_space(text) == text.size(); }

// The template's own text: before the first marker, between markers, after the last. Nothing when
// the markers do not stand in the text once each and in order.
using Pieces = std::vector<std::string>;

std::optional<Pieces> cut_at_markers(const std::string& text,
                                     std::span<const std::string> markers) {
  Pieces pieces;
  size_t from = 0;
  for (const std::string& marker : markers) {
    const size_t at = text.find(marker);
    if (at == std::string::npos || at < from || text.find(marker, at + 1) != std::string::npos)
      return std::nullopt;
    pieces.push_back(text.substr(from, at - from));
    from = at + marker.size();
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

// How a template may write a message: as it is, or without the white space, or the line ends, on
// both sides or on one.
std::vector<std::string_view> forms(std::string_view content) {
  const size_t lines = content.find_first_not_of('\n');
  const size_t leading_lines = lines == std::string_view::npos ? content.size() : lines;
  const size_t trailing_lines = content.size() - (content.find_last_not_of('\n') + 1);
  const auto without = [&](size_t leading, size_t trailing) {
    return content.substr(leading, content.size() - std::min(content.size(), leading + trailing));
  };
  std::vector<std::string_view> result = {content};
  for (const auto& [leading, trailing] :
       {std::pair(leading_space(content), trailing_space(content)),
        std::pair(leading_lines, trailing_lines)}) {
    result.push_back(without(leading, trailing));
    result.push_back(without(leading, 0));
    result.push_back(without(0, trailing));
  }
  return result;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// More than its content is the model's own.
bool is_more_than_content(const Message& m) {
  return is_assistant(m) && (m.calls_tools() || m.extra.contains("reasoning_content") ||
                             m.extra.contains("reasoning") || m.extra.contains("thinking"));
}

class Finder {
 public:
  Finder(const ChatTemplate& chat_template, std::span<const Message> messages,
         std::span<const size_t> wanted, const RenderOptions& options, std::string_view text)
      : template_(chat_template),
        messages_(messages),
        wanted_(wanted),
        options_(options),
        text_(text) {
    while (text.find(fmt::format("Hone{}q", salt_)) != std::string_view::npos) ++salt_;
  }

  std::optional<Spans> find() {
    if (wanted_.empty()) return Spans();
    if (!find_closing()) return std::nullopt;
    auto found = between_markers([](const Message& m) { return !m.calls_tools(); });
    // A template may leave out a blank message, or write other text around it.
    if (!found)
      found = between_markers(
          [](const Message& m) { return !m.calls_tools() && !is_blank(m.content); });
    Spans spans;
    for (const size_t i : wanted_) {
      const auto span = span_of(i, found ? (*found)[i] : std::nullopt);
      if (!span) return std::nullopt;
      spans.push_back(*span);
    }
    return spans;
  }

 private:
  std::optional<ChatSpan> span_of(size_t i, const std::optional<ChatSpan>& content) const {
    if (!is_assistant(messages_[i])) return content;
    if (!is_more_than_content(messages_[i])) return content ? content : after_prefix(i);
    if (const auto whole = after_prefix(i)) return whole;
    if (const auto whole = instead_of_answer(i)) return whole;
    if (const auto whole = after_prefix(i, /*closes=*/false)) return whole;
    return content;
  }

  // Letters and digits only, so that no template trims, escapes or splits it.
  std::string marker(size_t i) const { return fmt::format("Hone{}q{}z", salt_, i); }
  Message marked_answer(size_t i) const { return {messages_[i].role, marker(i)}; }

  // Nothing where the template refuses: a shortened or marked conversation need not suit it.
  std::optional<std::string> render(std::span<const Message> messages, bool prompt) const {
    RenderOptions options = options_;
    options.add_generation_prompt = prompt;
    try {
      return template_.render(messages, options);
    } catch (const TemplateError&) {
      return std::nullopt;
    }
  }

  // What the template writes behind the last answer when nothing follows it. False where it cannot
  // be told although an answer is wanted.
  bool find_closing() {
    const auto last = std::find_if(messages_.rbegin(), messages_.rend(), is_assistant);
    if (last == messages_.rend()) return true;
    const auto i = static_cast<size_t>(messages_.rend() - last) - 1;
    std::vector<Message> marked(messages_.begin(), messages_.begin() + static_cast<long>(i) + 1);
    marked[i] = marked_answer(i);
    const auto text = render(marked, /*prompt=*/false);
    const auto pieces = text ? cut_at_markers(*text, {{marker(i)}}) : std::nullopt;
    if (pieces) closing_ = pieces->back();
    return pieces ||
           std::ranges::none_of(wanted_, [&](size_t w) { return is_assistant(messages_[w]); });
  }

  // The messages that `chosen` holds for, put back between the template's pieces in the way that
  // gives the true text.
  std::optional<MaybeSpans> between_markers(bool (*chosen)(const Message&)) const {
    std::vector<Message> marked(messages_.begin(), messages_.end());
    std::vector<std::string> markers;
    std::vector<size_t> indices;
    for (const size_t i : wanted_) {
      if (!chosen(marked[i])) continue;
      markers.push_back(marked[i].content = marker(i));
      indices.push_back(i);
    }
    const auto text = render(marked, options_.add_generation_prompt);
    const auto pieces = text ? cut_at_markers(*text, markers) : std::nullopt;
    if (!pieces || !text_.starts_with(pieces->front())) return std::nullopt;

    MaybeSpans spans(messages_.size());
    size_t at = pieces->front().size();
    for (size_t k = 0; k < indices.size(); ++k) {
      const std::string& after = (*pieces)[k + 1];
      const auto end = end_of(messages_[indices[k]].content, at, after);
      if (!end) return std::nullopt;
      spans[indices[k]] = {indices[k], at, *end, *end + common_prefix(after, closing_)};
      at = *end + after.size();
    }
    return at == text_.size() ? std::optional(spans) : std::nullopt;
  }

  // Where the message at `at` ends, if one of its forms and `after` stand there.
  std::optional<size_t> end_of(std::string_view content, size_t at, std::string_view after) const {
    for (const std::string_view form : forms(content)) {
      const size_t end = at + form.size();
      if (text_.substr(at).starts_with(form) && text_.substr(end).starts_with(after)) return end;
    }
    return std::nullopt;
  }

  // What the template writes before answer i: when the assistant is to speak, and when it has said
  // something plain.
  std::vector<std::string> befores(size_t i) const {
    std::vector<std::string> texts;
    if (auto prompt = render(messages_.first(i), /*prompt=*/true)) texts.push_back(*prompt);
    std::vector<Message> marked(messages_.begin(), messages_.begin() + static_cast<long>(i));
    marked.push_back(marked_answer(i));
    const auto text = render(marked, /*prompt=*/false);
    const auto pieces = text ? cut_at_markers(*text, {{marker(i)}}) : std::nullopt;
    if (pieces) texts.push_back(pieces->front());
    return texts;
  }

  // All that the template adds for answer i to what it writes before it. Without `closes` it may
  // end in another way than an answer does: a turn goes on after a tool was called.
  std::optional<ChatSpan> after_prefix(size_t i, bool closes = true) const {
    const auto upto = render(messages_.first(i + 1), /*prompt=*/false);
    if (!upto || !text_.starts_with(*upto)) return std::nullopt;
    for (const std::string& before : befores(i)) {
      if (!upto->starts_with(before)) continue;
      const std::string_view added = std::string_view(*upto).substr(before.size());
      if (closes && !added.ends_with(closing_)) continue;
      const size_t tail = closes ? closing_.size() : trailing_space(added);
      return ChatSpan{i, before.size(), upto->size() - tail, upto->size()};
    }
    return std::nullopt;
  }

  // What stands where the template would put a plain answer, everything else as it is.
  std::optional<ChatSpan> instead_of_answer(size_t i) const {
    std::vector<Message> marked(messages_.begin(), messages_.end());
    marked[i] = marked_answer(i);
    const auto text = render(marked, options_.add_generation_prompt);
    const auto pieces = text ? cut_at_markers(*text, {{marker(i)}}) : std::nullopt;
    if (!pieces) return std::nullopt;
    const std::string &before = pieces->front(), &after = pieces->back();
    if (before.size() + after.size() > text_.size() || !text_.starts_with(before) ||
        !text_.ends_with(after))
      return std::nullopt;
    const size_t end = text_.size() - after.size();
    return ChatSpan{i, before.size(), end, end + common_prefix(after, closing_)};
  }

  const ChatTemplate& template_;
  std::span<const Message> messages_;
  std::span<const size_t> wanted_;
  const RenderOptions& options_;
  std::string_view text_;
  size_t salt_ = 0;
  std::string closing_;
};

}  // namespace

std::optional<Spans> find_chat_spans(const ChatTemplate& chat_template,
                                     std::span<const Message> messages,
                                     std::span<const size_t> wanted, const RenderOptions& options,
                                     std::string_view text) {
  return Finder(chat_template, messages, wanted, options, text).find();
}

}  // namespace hone::text
