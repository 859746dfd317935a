#include "text/message.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/quote.h"

namespace hone::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kRoles = {"system",    "developer", "user",
                                                    "assistant", "tool",      "function"};
// What templates are known to ask for.
constexpr std::array<std::string_view, 7> kExtra = {
    "name",      "tool_calls", "tool_call_id", "reasoning_content",
    "reasoning", "thinking",   "tool_name"};

constexpr size_t kLongestArguments = size_t{1} << 20;

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string content_of(const Json& value) {
  if (value.is_string()) return value;
  if (!value.is_array())
    throw ConfigError("the content of a message is {}, not text", value.type_name());
  std::string text;
  for (const Json& part : value) {
    const bool is_text = part.is_object() && part.value("type", Json()) == "text" &&
                         part.contains("text") && part["text"].is_string();
    if (!is_text) throw ConfigError("a part of a message's content is not text");
    text += part["text"].get_ref<const std::string&>();
  }
  return text;
}

// Depth is bounded, because nlohmann's parser and what walks the value recurse.
Json parse_arguments(const std::string& text) {
  int depth = 0;
  const auto shallow = [&](int d, Json::parse_event_t, Json&) {
    depth = std::max(depth, d);
    return depth <= 64;
  };
  if (text.size() > kLongestArguments)
    throw ConfigError("the arguments of a tool call are too long");
  Json value = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!value.is_object() || depth > 64)
    throw ConfigError("the arguments of a tool call are no JSON object: {}", quote(text));
  return value;
}

// {"type": "function", "function": {"name", "arguments"}}, or the inner object alone.
Json tool_call(Json call) {
  if (!call.is_object()) throw ConfigError("a tool call is {}, not an object", call.type_name());
  const bool nested = call.contains("function");
  if (nested && !call["function"].is_object())
    throw ConfigError("the function of a tool call is not an object");
  Json& function = nested ? call["function"] : call;
  if (!function.contains("name") || !function["name"].is_string())
    throw ConfigError("a tool call has no name");
  if (!function.contains("arguments")) return call;
  Json& arguments = function["arguments"];
  if (arguments.is_null()) arguments = Json::object();
  if (arguments.is_string()) arguments = parse_arguments(arguments.get<std::string>());
  if (!arguments.is_object())
    throw ConfigError("the arguments of a tool call are {}, not an object", arguments.type_name());
  return call;
}

Json tool_calls(const Json& value) {
  if (!value.is_array()) throw ConfigError("\"tool_calls\" is {}, not a list", value.type_name());
  Json calls = Json::array();
  for (const Json& call : value) calls.push_back(tool_call(call));
  return calls;
}

bool train_of(const std::string& key, const Json& value) {
  if (key == "train" && value.is_boolean()) return value;
  if (key == "weight" && value.is_number() && (value == 0 || value == 1)) return value == 1;
  throw ConfigError("\"{}\" of a message is {}, not {}", key, quote(value.dump()),
                    key == "train" ? "true or false" : "0 or 1");
}

}  // namespace

Message message_from_json(const Json& json) {
  if (!json.is_object()) throw ConfigError("a message is {}, not an object", json.type_name());
  const auto role = json.find("role");
  if (role == json.end() || !role->is_string()) throw ConfigError("a message has no \"role\"");
  Message message{*role, ""};
  if (!holds(kRoles, message.role))
    throw ConfigError("role {} is none of system, developer, user, assistant, tool",
                      quote(message.role));
  for (const auto& [key, value] : json.items()) {
    if (key == "role" || value.is_null()) continue;
    if (key == "content") {
      message.content = content_of(value);
    } else if (value.is_array() && value.empty()) {
      continue;
    } else if (key == "tool_calls") {
      message.extra[key] = tool_calls(value);
    } else if (key == "train" || key == "weight") {
      message.train = train_of(key, value);
    } else if (holds(kExtra, key)) {
      message.extra[key] = value;
    } else {
      throw ConfigError("a message has {}, which no chat template is known to ask for", quote(key));
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
