// One message of a chat.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hone::text {

struct Message {
  std::string role;     // "system", "user", "assistant", "tool"
  std::string content;  // UTF-8
  // Every other field as it came ("name", "tool_calls", "tool_call_id"): templates may ask for it.
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();

  bool operator==(const Message&) const = default;
};

// {"role": "user", "content": "hi", ...}. A missing or null content is empty. Throws ConfigError:
// not an object, no role, a content that is not text.
Message message_from_json(const nlohmann::ordered_json& json);
nlohmann::ordered_json to_json(const Message& message);

}  // namespace hone::text
