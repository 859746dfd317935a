// One message of a chat.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hone::text {

struct Message {
  std::string role;     // "system", "developer", "user", "assistant", "tool"
  std::string content;  // UTF-8
  // What templates may ask for besides: "name", "tool_calls", "tool_call_id", "reasoning_content".
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();
  // Is it to be learnt? Nothing: as the run's scope says. Templates do not see it.
  std::optional<bool> train = std::nullopt;

  bool operator==(const Message&) const = default;
  bool calls_tools() const { return extra.contains("tool_calls"); }
};

// {"role": "user", "content": "hi", ...}, the one reader of messages. A missing or null content is
// empty, a list of text parts their union; null and [] are as good as absent. The arguments of a
// tool call may be an object or, as OpenAI has them, its JSON text: templates get the object.
// "train" (true, false) and "weight" (0, 1) set Message::train. Throws ConfigError: not an object,
// an unknown role or key, a content that is not text, tool calls that are none.
Message message_from_json(const nlohmann::ordered_json& json);
nlohmann::ordered_json to_json(const Message& message);

}  // namespace hone::text
