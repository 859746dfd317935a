// What the rows of a file mean: one record a format, named by the recipe's `format`.
//
//   messages    {"messages": [{"role", "content", ...} ...], "tools": [...]}   OpenAI's files
//   sharegpt    {"conversations": [{"from", "value"} ...], "system", "tools"}
//   alpaca      {"instruction", "input", "output", "system", "history"}: one turn of a chat
//   completion  {"prompt", "completion"}: texts as they are, or lists of messages
//   text        {"text"}: learnt as a whole
//   tokens      {"input_ids", "labels" or "loss_mask", "attention_mask"}: labels of -100 are not
//               learnt, others must be the ids themselves
//   preference  {"prompt", "chosen", "rejected"}: texts, or lists of messages; without a prompt
//               (or with its text) the lists share their beginning
//
// null is as good as absent. Messages go through text::message_from_json alone, which knows
// "train" and "weight". Other columns of a row are not read; unused() names them, so that nothing
// is left out in silence. Errors are ConfigErrors without the place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/example.h"
#include "data/row.h"

namespace hone::data {

struct Format {
  std::string_view name;
  std::vector<std::string_view> needed, optional;    // columns
  std::vector<Example> (*examples)(const Row& row);  // one; of a preference chosen, rejected

  bool pairs() const { return name == "preference"; }
};

std::span<const Format> formats();
const Format& format_of(std::string_view name);  // one of the recipe's schema

// Throws ConfigError: a column is missing (naming the format that the row looks like), or wrong.
std::vector<Example> examples_of(const Format& format, const Row& row);

std::vector<std::string> unused(const Format& format, const Row& row);

// Equal for two rows that teach the same, whatever else they hold; the prompt alone of a
// preference, so that its answers stay on one side of a split.
uint64_t content_hash(std::span<const Example> examples);

}  // namespace hone::data
