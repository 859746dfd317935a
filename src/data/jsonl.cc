#include "data/jsonl.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "ckpt/atomic_file.h"

namespace hone::data {
namespace {

constexpr JsonLimits kLimits{.bytes = size_t{1} << 30, .depth = 16};
constexpr std::array<std::string_view, 3> kRoles{"system", "user", "assistant"};

std::string text_of(const nlohmann::json& message, const char* key, const std::string& place) {
  const auto it = message.find(key);
  if (it == message.end() || it->is_null())
    throw ConfigError("{}: a message has no \"{}\"", place, key);
  if (!it->is_string()) throw ConfigError("{}: \"{}\" of a message is not text", place, key);
  return it->get<std::string>();
}

text::Message message_of(const nlohmann::json& json, const std::string& place) {
  if (!json.is_object()) throw ConfigError("{}: a message is not an object", place);
  for (const auto& [key, value] : json.items())
    if (key != "role" && key != "content" && key != "name" && !value.is_null())
      throw ConfigError("{}: a message has {}, which cannot be trained on", place, quote(key));
  text::Message m{text_of(json, "role", place), text_of(json, "content", place)};
  if (std::ranges::find(kRoles, m.role) == kRoles.end())
    throw ConfigError("{}: role {} is none of system, user, assistant", place, quote(m.role));
  return m;
}

Example example_of(const nlohmann::json& json, const std::string& place) {
  if (!json.is_object()) throw ConfigError("{}: the line is not an object", place);
  for (const char* key : {"tools", "functions"})
    if (json.contains(key) && !json[key].is_null())
      throw ConfigError("{}: the example has \"{}\", which cannot be trained on yet", place, key);
  const auto messages = json.find("messages");
  if (messages == json.end() || messages->is_null())
    throw ConfigError("{}: the example has no \"messages\"", place);
  if (!messages->is_array() || messages->empty())
    throw ConfigError("{}: \"messages\" is not a list of at least one message", place);
  Example example;
  for (const nlohmann::json& m : *messages) example.messages.push_back(message_of(m, place));
  return example;
}

}  // namespace

JsonlReader::JsonlReader(const std::filesystem::path& file, size_t max_line)
    : file_(file), max_line_(max_line), in_(file, std::ios::binary) {
  if (!in_) throw FileError("cannot open {}: {}", file.string(), std::strerror(errno));
  if (std::filesystem::is_directory(file)) throw FileError("{} is a folder", file.string());
}

// Up to the newline, but never more than max_line_.
bool JsonlReader::read_line(std::string& text) {
  constexpr int kEnd = std::char_traits<char>::eof();
  text.clear();
  std::streambuf& buffer = *in_.rdbuf();
  int c = buffer.sbumpc();
  if (c == kEnd) return false;
  ++line_;
  for (; c != kEnd && c != '\n'; c = buffer.sbumpc()) {
    if (text.size() == max_line_)
      throw ConfigError("{}:{}: the line is longer than {} bytes", file_.string(), line_,
                        max_line_);
    text.push_back(static_cast<char>(c));
  }
  return true;
}

std::optional<Example> JsonlReader::next() {
  std::string text;
  while (read_line(text)) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("{}:{}", file_.string(), line_);
    return example_of(parse_json(text, place, kLimits), place);
  }
  return std::nullopt;
}

std::vector<Example> read_jsonl(const std::filesystem::path& file) {
  JsonlReader reader(file);
  std::vector<Example> examples;
  while (auto example = reader.next()) examples.push_back(std::move(*example));
  return examples;
}

void write_jsonl(const std::filesystem::path& file, std::span<const Example> examples) {
  std::string text;
  for (const Example& example : examples) {
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    for (const text::Message& m : example.messages)
      messages.push_back({{"role", m.role}, {"content", m.content}});
    try {
      text += nlohmann::ordered_json{{"messages", std::move(messages)}}.dump() + "\n";
    } catch (const nlohmann::json::exception&) {
      throw ConfigError("{}: a message is not UTF-8", file.string());
    }
  }
  ckpt::write_atomically(file, text);
}

}  // namespace hone::data
