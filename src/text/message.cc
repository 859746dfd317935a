#include "text/message.h"

#include "base/error.h"

namespace hone::text {

using Json = nlohmann::ordered_json;

Message message_from_json(const Json& json) {
  if (!json.is_object()) throw ConfigError("a message is {}, not an object", json.type_name());
  const auto role = json.find("role");
  if (role == json.end() || !role->is_string()) throw ConfigError("a message has no \"role\"");
  Message message{*role, ""};
  for (const auto& [key, value] : json.items()) {
    if (key == "role") continue;
    if (key != "content") {
      message.extra[key] = value;
    } else if (value.is_string()) {
      message.content = value;
    } else if (!value.is_null()) {
      throw ConfigError("the content of a message is {}, not text", value.type_name());
    }
  }
  return message;
}

Json to_json(const Message& message) {
  Json json = {{"role", message.role}, {"content", message.content}};
  for (const auto& [key, value] : message.extra.items()) json[key] = value;
  return json;
}

}  // namespace hone::text
