#include "data/jsonl.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace hone::data {
namespace {

std::string text_of(const nlohmann::json& message, const char* key, const std::string& place) {
  const auto it = message.find(key);
  if (it == message.end() || !it->is_string())
    throw ConfigError("{}: a message has no \"{}\" text", place, key);
  return it->get<std::string>();
}

Conversation conversation_of(const nlohmann::json& json, const std::string& place) {
  if (!json.is_object() || !json.contains("messages") || !json["messages"].is_array())
    throw ConfigError("{}: want an object with a list \"messages\"", place);
  Conversation c;
  for (const nlohmann::json& m : json["messages"]) {
    if (!m.is_object()) throw ConfigError("{}: a message is no object", place);
    c.push_back({text_of(m, "role", place), text_of(m, "content", place)});
  }
  if (c.empty()) throw ConfigError("{}: \"messages\" is empty", place);
  return c;
}

}  // namespace

JsonlReader::JsonlReader(const std::filesystem::path& file) : file_(file), in_(file) {
  if (!in_ || std::filesystem::is_directory(file)) throw FileError("cannot open {}", file.string());
}

// Up to the newline, but never more than kMaxLine.
bool JsonlReader::read_line(std::string& text) {
  text.clear();
  std::streambuf& buffer = *in_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int c = buffer.sbumpc();
  if (c == kEnd) return false;
  for (; c != kEnd && c != '\n'; c = buffer.sbumpc()) {
    if (text.size() == kMaxLine)
      throw ConfigError("{}:{}: the line is longer than {} bytes", file_.string(), line_ + 1,
                        kMaxLine);
    text.push_back(static_cast<char>(c));
  }
  ++line_;
  return true;
}

std::optional<Conversation> JsonlReader::next() {
  std::string text;
  while (read_line(text)) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("{}:{}", file_.string(), line_);
    return conversation_of(parse_json(text, place), place);
  }
  return std::nullopt;
}

std::string to_json_line(const Conversation& conversation) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (const text::Message& m : conversation)
    messages.push_back({{"role", m.role}, {"content", m.content}});
  return nlohmann::ordered_json{{"messages", std::move(messages)}}.dump();
}

}  // namespace hone::data
