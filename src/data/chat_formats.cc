// messages, sharegpt and alpaca: rows that are chats.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "data/formats.h"

namespace hone::data {
namespace {

// What a text says in place of a list: columns of CSV and Parquet files.
Row parsed(const Row& value, const char* column) {
  if (!value.is_string()) return value;
  return parse_ordered_json(value.get_ref<const std::string&>(), fmt::format("\"{}\"", column));
}

struct Speaker {
  std::string_view from, role;
};
constexpr std::array<Speaker, 14> kSpeakers{{{"human", "user"},
                                             {"user", "user"},
                                             {"gpt", "assistant"},
                                             {"chatgpt", "assistant"},
                                             {"bing", "assistant"},
                                             {"bard", "assistant"},
                                             {"assistant", "assistant"},
                                             {"model", "assistant"},
                                             {"function_call", "assistant"},
                                             {"system", "system"},
                                             {"tool", "tool"},
                                             {"tool_response", "tool"},
                                             {"function_response", "tool"},
                                             {"observation", "tool"}}};

text::Message sharegpt_message(const Row& turn) {
  if (!turn.is_object()) throw ConfigError("a turn is {}, not an object", turn.type_name());
  const std::string from = text_of(turn, "from"), value = text_of(turn, "value");
  const auto speaker = std::ranges::find(kSpeakers, from, &Speaker::from);
  if (speaker == kSpeakers.end())
    throw ConfigError("\"from\" is {}, none of human, gpt, system, function_call, observation",
                      quote(from));
  Row message{{"role", speaker->role}, {"content", value}};
  if (from == "function_call") {
    const Row call = parse_ordered_json(value, "the function call");
    message["content"] = "";
    message["tool_calls"] = call.is_array() ? call : Row::array({call});
    for (Row& c : message["tool_calls"])
      if (!c.contains("function")) c = Row{{"type", "function"}, {"function", Row(c)}};
  }
  for (const auto& [key, extra] : turn.items())
    if (key != "from" && key != "value") message[key] = extra;
  return text::message_from_json(message);
}

}  // namespace

std::string text_of(const Row& row, const char* column) {
  const auto found = row.find(column);
  if (found == row.end() || found->is_null()) return "";
  if (!found->is_string()) throw ConfigError("\"{}\" is {}, not text", column, found->type_name());
  return *found;
}

std::vector<text::Message> messages_of(const Row& list, const char* column) {
  const Row turns = parsed(list, column);
  if (!turns.is_array() || turns.empty())
    throw ConfigError("\"{}\" is not a list of at least one message", column);
  std::vector<text::Message> messages;
  for (const Row& turn : turns) {
    messages.push_back(text::message_from_json(turn));
    const auto content = turn.find("content");
    const bool silent = content == turn.end() || content->is_null();
    if (silent && !messages.back().calls_tools()) throw ConfigError("a message has no \"content\"");
  }
  return messages;
}

nlohmann::ordered_json variables_of(const Row& row) {
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
  if (const auto more = row.find("chat_template_kwargs"); more != row.end() && !more->is_null()) {
    variables = parsed(*more, "chat_template_kwargs");
    if (!variables.is_object()) throw ConfigError("\"chat_template_kwargs\" is not an object");
    for (const char* reserved : {"messages", "add_generation_prompt", "tools"})
      if (variables.contains(reserved))
        throw ConfigError("\"chat_template_kwargs\" sets \"{}\"", reserved);
  }
  const auto tools = row.find("tools");
  const auto is_none = [](const Row& t) {
    const auto* text = t.get_ptr<const std::string*>();
    return t.is_null() || (t.is_array() && t.empty()) || (text != nullptr && text->empty());
  };
  if (tools == row.end() || is_none(*tools)) return variables;
  variables["tools"] = parsed(*tools, "tools");
  if (!variables["tools"].is_array()) throw ConfigError("\"tools\" is not a list");
  return variables;
}

std::vector<Example> messages_examples(const Row& row) {
  return {{.messages = messages_of(row["messages"], "messages"), .variables = variables_of(row)}};
}

std::vector<Example> sharegpt_examples(const Row& row) {
  const Row turns = parsed(row["conversations"], "conversations");
  if (!turns.is_array() || turns.empty())
    throw ConfigError("\"conversations\" is not a list of at least one turn");
  const bool has_roles = turns[0].is_object() && turns[0].contains("role");
  if (has_roles)
    throw ConfigError(
        "\"conversations\" holds role and content: rename the column to messages and use the "
        "format messages");
  Example example{.variables = variables_of(row)};
  if (const std::string system = text_of(row, "system"); !system.empty())
    example.messages.push_back({"system", system});
  for (const Row& turn : turns) example.messages.push_back(sharegpt_message(turn));
  return {std::move(example)};
}

std::vector<Example> alpaca_examples(const Row& row) {
  Example example;
  const auto say = [&](const char* role, const std::string& content) {
    example.messages.push_back({role, content});
  };
  if (const std::string system = text_of(row, "system"); !system.empty()) say("system", system);
  if (const auto history = row.find("history"); history != row.end() && !history->is_null()) {
    for (const Row& turn : parsed(*history, "history")) {
      if (!turn.is_array() || turn.size() != 2 || !turn[0].is_string() || !turn[1].is_string())
        throw ConfigError("\"history\" is not a list of pairs of texts");
      say("user", turn[0]);
      say("assistant", turn[1]);
    }
  }
  const std::string input = text_of(row, "input");
  say("user", text_of(row, "instruction") + (input.empty() ? "" : "\n\n" + input));
  say("assistant", text_of(row, "output"));
  return {std::move(example)};
}

}  // namespace hone::data
