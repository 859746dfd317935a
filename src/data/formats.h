// The parsers of format.cc's table, one a format. The needed columns are there.
#pragma once

#include <vector>

#include "data/example.h"
#include "data/row.h"

namespace hone::data {

std::vector<Example> messages_examples(const Row& row);
std::vector<Example> sharegpt_examples(const Row& row);
std::vector<Example> alpaca_examples(const Row& row);
std::vector<Example> completion_examples(const Row& row);
std::vector<Example> text_examples(const Row& row);
std::vector<Example> tokens_examples(const Row& row);
std::vector<Example> preference_examples(const Row& row);

// Shared by them.
std::string text_of(const Row& row, const char* column);  // "" where it is absent
std::vector<text::Message> messages_of(const Row& list, const char* column);
nlohmann::ordered_json variables_of(const Row& row);  // tools and chat_template_kwargs

}  // namespace hone::data
