// completion, text, tokens and preference.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/quote.h"
#include "data/formats.h"

namespace hone::data {
namespace {

constexpr int64_t kNoLabel = -100;

// A prompt and an answer as texts, or as lists of messages of which only the answer is learnt.
Example prompted(const Row& row, const Row& prompt, const Row& answer, const char* column) {
  if (prompt.is_string() && answer.is_string())
    return {.prompt = prompt, .text = answer, .kind = Example::kText};
  if (!prompt.is_array() || !answer.is_array())
    throw ConfigError("\"prompt\" is {} and \"{}\" {}: both must be texts, or lists of messages",
                      prompt.type_name(), column, answer.type_name());
  Example example{.messages = messages_of(prompt, "prompt"), .variables = variables_of(row)};
  for (text::Message& m : example.messages) m.train = false;
  for (text::Message& m : messages_of(answer, column)) example.messages.push_back(std::move(m));
  return example;
}

std::vector<int64_t> integers(const Row& row, const char* column) {
  const Row& list = row[column];
  if (!list.is_array()) throw ConfigError("\"{}\" is {}, not a list", column, list.type_name());
  std::vector<int64_t> values;
  values.reserve(list.size());
  for (const Row& v : list) {
    const bool fits = v.is_boolean() || (v.is_number_integer() && v >= kNoLabel &&
                                         v <= std::numeric_limits<int32_t>::max());
    if (!fits) throw ConfigError("\"{}\" holds {}, no token id", column, quote(v.dump()));
    values.push_back(v.is_boolean() ? int64_t{v.get<bool>()} : v.get<int64_t>());
  }
  return values;
}

bool given(const Row& row, const char* column) {
  const auto found = row.find(column);
  return found != row.end() && !found->is_null();
}

// Ones at positions that count, as long as the ids; all ones when the column is absent.
std::vector<int64_t> flags(const Row& row, const char* column, size_t count) {
  if (!given(row, column)) return std::vector<int64_t>(count, 1);
  std::vector<int64_t> values = integers(row, column);
  if (values.size() != count)
    throw ConfigError("\"{}\" has {} entries for {} ids", column, values.size(), count);
  for (const int64_t v : values)
    if (v != 0 && v != 1) throw ConfigError("\"{}\" holds {}, neither 0 nor 1", column, v);
  return values;
}

std::vector<int64_t> learnt_labels(const Row& row, const std::vector<int64_t>& ids) {
  if (!given(row, "labels")) return flags(row, "loss_mask", ids.size());
  if (given(row, "loss_mask")) throw ConfigError("the row has both \"labels\" and \"loss_mask\"");
  std::vector<int64_t> labels = integers(row, "labels");
  if (labels.size() != ids.size())
    throw ConfigError("\"labels\" has {} entries for {} ids", labels.size(), ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (labels[i] != kNoLabel && labels[i] != ids[i])
      throw ConfigError(
          "label {} is {}, but the id there is {}: labels are the ids, or -100 where nothing is "
          "learnt (not shifted)",
          i, labels[i], ids[i]);
    labels[i] = labels[i] == kNoLabel ? 0 : 1;
  }
  return labels;
}

}  // namespace

std::vector<Example> completion_examples(const Row& row) {
  return {prompted(row, row["prompt"], row["completion"], "completion")};
}

std::vector<Example> text_examples(const Row& row) {
  return {{.text = text_of(row, "text"), .kind = Example::kText}};
}

// Padding (attention_mask 0) is left out; it may stand at the ends only.
std::vector<Example> tokens_examples(const Row& row) {
  const std::vector<int64_t> ids = integers(row, "input_ids");
  const std::vector<int64_t> labels = learnt_labels(row, ids);
  const std::vector<int64_t> real = flags(row, "attention_mask", ids.size());
  const auto first = std::ranges::find(real, 1) - real.begin();
  const auto last = real.rend() - std::ranges::find(real.rbegin(), real.rend(), 1);
  Example example{.kind = Example::kTokens};
  for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(std::max(first, last)); ++i) {
    if (real[i] == 0) throw ConfigError("\"attention_mask\" is 0 in the middle");
    if (ids[i] < 0) throw ConfigError("\"input_ids\" holds {}, no token id", ids[i]);
    example.tokens.ids.push_back(static_cast<int32_t>(ids[i]));
    example.tokens.mask.push_back(static_cast<uint8_t>(labels[i]));
  }
  return {std::move(example)};
}

std::vector<Example> preference_examples(const Row& row) {
  const Row &chosen = row["chosen"], &rejected = row["rejected"];
  if (chosen.is_array() != rejected.is_array())
    throw ConfigError("\"chosen\" and \"rejected\" must be both texts, or both lists of messages");
  const bool prompt = given(row, "prompt");
  if (prompt && (row["prompt"].is_array() || !chosen.is_array()))
    return {prompted(row, row["prompt"], chosen, "chosen"),
            prompted(row, row["prompt"], rejected, "rejected")};
  if (!chosen.is_array())
    throw ConfigError("\"chosen\" and \"rejected\" are texts, but there is no \"prompt\"");

  Example a{.messages = messages_of(chosen, "chosen"), .variables = variables_of(row)};
  Example b{.messages = messages_of(rejected, "rejected"), .variables = a.variables};
  const auto common =
      static_cast<size_t>(std::ranges::mismatch(a.messages, b.messages).in1 - a.messages.begin());
  if (common == 0)
    throw ConfigError("\"chosen\" and \"rejected\" do not begin with the same message");
  if (prompt && a.messages.front().content != text_of(row, "prompt"))
    throw ConfigError("\"chosen\" does not begin with the \"prompt\"");
  for (size_t i = 0; i < common; ++i) a.messages[i].train = b.messages[i].train = false;
  return {std::move(a), std::move(b)};
}

}  // namespace hone::data
