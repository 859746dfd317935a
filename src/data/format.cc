#include "data/format.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "data/formats.h"

namespace hone::data {
namespace {

bool has(const Row& row, std::string_view column) {
  const auto found = row.find(column);
  return found != row.end() && !found->is_null();
}

std::string listed(const std::vector<std::string_view>& columns) {
  std::string text;
  for (const std::string_view c : columns) text += fmt::format("{}{}", text.empty() ? "" : ", ", c);
  return text;
}

// The most specific format whose columns are all there.
const Format* looks_like(const Row& row) {
  const Format* best = nullptr;
  for (const Format& f : formats()) {
    const bool fits = std::ranges::all_of(f.needed, [&](auto c) { return has(row, c); });
    if (fits && (best == nullptr || f.needed.size() > best->needed.size())) best = &f;
  }
  return best;
}

nlohmann::ordered_json content(const Example& e) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (const text::Message& m : e.messages) messages.push_back(text::to_json(m));
  return {messages, e.variables, e.prompt, e.text, e.tokens.ids};
}

}  // namespace

std::span<const Format> formats() {
  static const std::vector<Format> all = {
      {"messages",
       {"messages"},
       {"tools", "chat_template_kwargs", "parallel_tool_calls"},
       messages_examples},
      {"sharegpt", {"conversations"}, {"system", "tools"}, sharegpt_examples},
      {"alpaca", {"instruction", "output"}, {"input", "system", "history"}, alpaca_examples},
      {"completion",
       {"prompt", "completion"},
       {"tools", "chat_template_kwargs"},
       completion_examples},
      {"text", {"text"}, {}, text_examples},
      {"tokens", {"input_ids"}, {"labels", "loss_mask", "attention_mask"}, tokens_examples},
      {"preference",
       {"chosen", "rejected"},
       {"prompt", "tools", "chat_template_kwargs"},
       preference_examples},
  };
  return all;
}

const Format& format_of(std::string_view name) {
  const auto found = std::ranges::find(formats(), name, &Format::name);
  check(found != formats().end(), "no format {}", name);
  return *found;
}

std::vector<Example> examples_of(const Format& format, const Row& row) {
  for (const std::string_view column : format.needed) {
    if (has(row, column)) continue;
    const Format* other = looks_like(row);
    if (other == nullptr)
      throw ConfigError("the row has no {}, which the format {} needs", quote(column), format.name);
    throw ConfigError(
        "the row has no {}, but {}: it looks like the format {}; say so, as in "
        "{{path: FILE, format: {}}}",
        quote(column), listed(other->needed), other->name, other->name);
  }
  return format.examples(row);
}

std::vector<std::string> unused(const Format& format, const Row& row) {
  std::vector<std::string> columns;
  const auto in = [](const auto& list, std::string_view c) {
    return std::ranges::find(list, c) != list.end();
  };
  for (const auto& [column, value] : row.items())
    if (!value.is_null() && !in(format.needed, column) && !in(format.optional, column))
      columns.push_back(column);
  return columns;
}

uint64_t content_hash(std::span<const Example> examples) {
  Row all = Row::array();
  for (const Example& e : examples) all.push_back(content(e));
  if (examples.size() == 2) {  // what both answers begin with
    const auto &a = examples[0].messages, &b = examples[1].messages;
    const auto common = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    Row messages = Row::array();
    for (const text::Message& m : std::span(a).first(common)) messages.push_back(text::to_json(m));
    if (common > 0 || !examples[0].prompt.empty()) all = {messages, examples[0].prompt};
  }
  const auto replace = Row::error_handler_t::replace;
  return std::stoull(sha256(all.dump(-1, ' ', false, replace)).substr(0, 16), nullptr, 16);
}

}  // namespace hone::data
