// What a row teaches, whatever its format.
#pragma once

#include <string>
#include <vector>

#include "data/sample.h"
#include "text/message.h"

namespace hone::data {

struct Example {
  enum Kind { kChat, kText, kTokens };

  std::vector<text::Message> messages = {};  // kChat: rendered by the model's template
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();  // the template's: "tools"
  std::string prompt = {},
              text = {};  // kText: no template; text is learnt, prompt stands before it
  Sample tokens = {};     // kTokens
  Kind kind = kChat;
};

}  // namespace hone::data
