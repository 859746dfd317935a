#include "text/chat_spans.h"

#include <algorithm>
#include <array>

#include "text/utf8.h"

namespace hone::text {
namespace {

using Spans = std::vector<ChatSpan>;

bool is_assistant(const Message& message) { return message.role == "assistant"; }

// A marker is letters and digits only, so that no template trims, escapes or splits it.
std::string marker(size_t salt, size_t i) { return fmt::format("Hone{}q{}z", salt, i); }

// The template's own text: before the first marker, between markers, after the last.
using Pieces = std::vector<std::string>;

std::optional<Pieces> cut_at_markers(const std::optional<std::string>& text,
                                     std::span<const std::string> markers) {
  if (!text) return std::nullopt;
  Pieces pieces;
  size_t from = 0;
  for (const std::string& m : markers) {
    const size_t at = text->find(m);
    if (at == std::string::npos || at < from || text->find(m, at + 1) != std::string::npos)
      return std::nullopt;
    pieces.emplace_back(text->substr(from, at - from));
    from = at + m.size();
  }
  pieces.emplace_back(text->substr(from));
  return pieces;
}

// The messages with markers for the assistant's, and a salt that none of them holds.
struct MarkedMessages {
  std::vector<Message> messages;
  std::vector<std::string> markers;

  MarkedMessages(std::span<const Message> original, std::string_view text)
      : messages(original.begin(), original.end()) {
    size_t salt = 0;
    while (text.find(fmt::format("Hone{}q", salt)) != std::string_view::npos) ++salt;
    for (Message& message : messages) {
      if (!is_assistant(message)) continue;
      message.content = marker(salt, markers.size());
      markers.push_back(message.content);
    }
  }
};

// Puts the true messages back between the pieces, in the way that gives `text`.
class Matcher {
 public:
  Matcher(std::string_view text, const Pieces& pieces, std::vector<std::string_view> contents)
      : text_(text), pieces_(pieces), contents_(std::move(contents)) {}

  std::optional<Spans> match() {
    if (!text_.starts_with(pieces_[0]) || !match_from(0, pieces_[0].size())) return std::nullopt;
    return spans_;
  }

 private:
  // Message i and all after it, from byte `at` on.
  bool match_from(size_t i, size_t at) {
    if (i == contents_.size()) return at == text_.size();
    for (const std::string_view form : forms(contents_[i])) {
      const size_t end = at + form.size();
      const std::string& after = pieces_[i + 1];
      if (!text_.substr(at).starts_with(form) || !text_.substr(end).starts_with(after)) continue;
      spans_.push_back({at, end, end});
      if (match_from(i + 1, end + after.size())) return true;
      spans_.pop_back();
    }
    return false;
  }

  // As it is, trimmed on both sides, on one.
  static std::vector<std::string_view> forms(std::string_view content) {
    const size_t leading = leading_space(content);
    const size_t trailing = leading == content.size() ? 0 : trailing_space(content);
    const size_t last = content.size() - trailing;
    std::vector<std::string_view> forms = {content};
    if (leading > 0 && trailing > 0) forms.push_back(content.substr(leading, last - leading));
    if (leading > 0) forms.push_back(content.substr(leading));
    if (trailing > 0) forms.push_back(content.substr(0, last));
    return forms;
  }

  std::string_view text_;
  const Pieces& pieces_;
  std::vector<std::string_view> contents_;
  Spans spans_;
};

// Nothing where the template refuses: a shortened or marked conversation need not suit it.
std::optional<std::string> try_render(const ChatTemplate& chat_template,
                                      std::span<const Message> messages,
                                      const RenderOptions& options) {
  try {
    return chat_template.render(messages, options);
  } catch (const TemplateError&) {
    return std::nullopt;
  }
}

// By what the template writes before each answer, and up to its end, when the rest is not there.
std::optional<Spans> match_prefixes(const ChatTemplate& chat_template,
                                    std::span<const Message> messages, RenderOptions options,
                                    std::string_view text, std::string_view closing) {
  Spans spans;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!is_assistant(messages[i])) continue;
    options.add_generation_prompt = true;
    const auto before = try_render(chat_template, messages.first(i), options);
    options.add_generation_prompt = false;
    const auto upto = try_render(chat_template, messages.first(i + 1), options);
    if (!before || !upto || !upto->starts_with(*before) || !text.starts_with(*upto) ||
        !upto->ends_with(closing) || upto->size() - closing.size() < before->size())
      return std::nullopt;
    spans.push_back({before->size(), upto->size() - closing.size(), upto->size()});
  }
  return spans;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::optional<Spans> find_chat_spans(const ChatTemplate& chat_template,
                                     std::span<const Message> messages,
                                     const RenderOptions& options, std::string_view text) {
  const MarkedMessages marked(messages, text);
  if (marked.markers.empty()) return Spans();
  const auto pieces =
      cut_at_markers(try_render(chat_template, marked.messages, options), marked.markers);
  if (!pieces) return std::nullopt;

  // What ends a turn stands behind the last message when nothing follows it.
  std::string closing = pieces->back();
  const auto last = std::ranges::find_if(messages.rbegin(), messages.rend(), is_assistant);
  if (last != messages.rbegin() || options.add_generation_prompt) {
    RenderOptions finished = options;
    finished.add_generation_prompt = false;
    const auto upto = std::span(marked.messages).first(static_cast<size_t>(messages.rend() - last));
    const auto shorter = cut_at_markers(try_render(chat_template, upto, finished), marked.markers);
    if (!shorter) return std::nullopt;
    closing = shorter->back();
  }

  std::vector<std::string_view> contents;
  for (const Message& message : messages)
    if (is_assistant(message)) contents.push_back(message.content);
  auto spans = Matcher(text, *pieces, contents).match();
  if (!spans) return match_prefixes(chat_template, messages, options, text, closing);
  for (size_t i = 0; i < spans->size(); ++i)
    (*spans)[i].turn_end += common_prefix((*pieces)[i + 1], closing);
  return spans;
}

}  // namespace hone::text
