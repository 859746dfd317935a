#include "base/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/mmap.h"
#include "base/quote.h"

namespace hone {
namespace {

using Kind = Yaml::Kind;

constexpr const char* kBadKey = "a key must be one word; is a bracket left open?";

// Written after every text. yaml-cpp takes a quote that is open at the end of the file for closed;
// this comment closes either kind and opens the other, which it does refuse.
constexpr const char* kSentinel = "#'\"'\"";

std::string place(const std::string& source, int line) {
  return line == 0 ? source : fmt::format("{}:{}", source, line);
}

// Builds the tree from yaml-cpp's events, so that every limit holds while the text is read.
class Builder : public YAML::EventHandler {
 public:
  // A text of one line needs no line numbers.
  Builder(const std::string& source, bool lines, int depth)
      : source_(std::make_shared<const std::string>(source)), lines_(lines), depth_(depth) {}
  Yaml take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "aliases (*name) are not allowed; write the value out");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(mark, "?", anchor, Kind::kNull));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Yaml value = make(mark, tag, anchor, Kind::kScalar);
    value.quoted = tag == "!";  // what yaml-cpp calls a scalar that is not plain
    value.text = text;
    add(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, make(mark, tag, anchor, Kind::kList));
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, make(mark, tag, anchor, Kind::kMap));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Yaml value;
    std::set<std::string> seen;  // the keys again: looking them up in a list is quadratic
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& why) const {
    throw ConfigError("{}: {}", place(*source_, line(mark)), why);
  }

  int line(const YAML::Mark& mark) const { return lines_ ? mark.line + 1 : 0; }

  Yaml make(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Kind kind) {
    if (anchor != 0) fail(mark, "anchors (&name) are not allowed; write the value out");
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, "tags (!name) are not allowed");
    Yaml value;
    value.kind = kind;
    value.line = line(mark);
    value.source = source_;
    return value;
  }

  bool wants_key() const {
    if (open_.empty() || open_.back().value.kind != Kind::kMap) return false;
    return open_.back().value.keys.size() == open_.back().value.items.size();
  }

  void open(const YAML::Mark& mark, Yaml value) {
    if (static_cast<int>(open_.size()) >= depth_)
      fail(mark, fmt::format("nested deeper than {} levels", depth_));
    if (wants_key()) fail(mark, kBadKey);
    open_.push_back({std::move(value), {}});
  }

  void close() {
    Yaml value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }

  void add(Yaml value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& parent = open_.back();
    if (wants_key())
      add_key(parent, value);
    else
      parent.value.items.push_back(std::move(value));
  }

  static void add_key(Frame& parent, const Yaml& key) {
    if (key.kind != Kind::kScalar) throw ConfigError("{}: {}", key.where(), kBadKey);
    if (!parent.seen.insert(key.text).second)
      throw ConfigError("{}: key {} appears twice", key.where(), quote(key.text));
    parent.value.keys.push_back(key.text);
  }

  std::shared_ptr<const std::string> source_;
  bool lines_;
  int depth_;
  std::vector<Frame> open_;
  Yaml root_;
};

// yaml-cpp replaces what is not UTF-8, ends at a 0x04 and guesses UTF-16 from zero bytes; YAML 1.2
// allows none of these bytes.
void check_characters(std::string_view text, const std::string& source) {
  if (!valid_utf8(text)) throw ConfigError("{}: not UTF-8 text", source);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
      throw ConfigError("{}: control character \\x{:02x}; not YAML text", source, byte);
  }
}

// Words that some YAML reader takes for something other than text.
bool reads_as_other(std::string text) {
  if (text.empty()) return false;
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
    if (text == word) return true;
  return std::string_view("0123456789+-.").contains(text[0]) &&
         text.find_first_not_of("0123456789+-._exabcdf") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

bool is_word(std::string_view text) {
  constexpr std::string_view kFirst =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./";
  if (text.empty() || !kFirst.contains(text[0])) return false;
  return std::ranges::all_of(
      text, [&](char c) { return kFirst.contains(c) || std::string_view("+-=@%").contains(c); });
}

std::string scalar_text(const Yaml& value) {
  const bool other = reads_as_other(value.text);
  if (other ? !value.quoted : is_word(value.text)) return value.text;
  std::string out = "\"";
  for (const char c : value.text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  }
  return out + "\"";
}

std::string key_text(const std::string& key) {
  Yaml word;
  word.text = key;
  word.quoted = true;
  return scalar_text(word);
}

void write_block(const Yaml& value, size_t indent, std::string& out) {
  constexpr size_t kColumns = 100;
  const bool map = value.kind == Kind::kMap;
  for (size_t i = 0; i < value.items.size(); ++i) {
    const Yaml& item = value.items[i];
    const std::string lead = std::string(indent, ' ') + (map ? key_text(value.keys[i]) + ":" : "-");
    std::string flow = yaml_flow(item);
    const bool nested =
        (item.kind == Kind::kMap || item.kind == Kind::kList) && !item.items.empty();
    if (!nested || lead.size() + 1 + flow.size() <= kColumns) {
      out += lead + " " + flow + "\n";
    } else {
      out += lead + "\n";
      write_block(item, indent + 2, out);
    }
  }
}

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items[static_cast<size_t>(found - keys.begin())];
}

void Yaml::put(std::string key, Yaml value) {
  kind = Kind::kMap;
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
}

std::string Yaml::where() const { return place(source == nullptr ? "" : *source, line); }

std::string Yaml::shown() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return quote(text);
    case Kind::kList:
      return fmt::format("a list of {}", items.size());
    case Kind::kMap:
      return "a map";
  }
  return "";
}

Yaml parse_yaml(std::string_view text, std::string source, const YamlLimits& limits) {
  if (text.size() > limits.bytes)
    throw ConfigError("{}: {} bytes of YAML, more than the {} allowed", source, text.size(),
                      limits.bytes);
  check_characters(text, source);
  const bool lines = text.contains('\n');
  Builder builder(source, lines, limits.depth), rest(source, lines, limits.depth);
  try {
    std::istringstream stream(std::string(text) + (text.ends_with('\n') ? "" : "\n") + kSentinel);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    if (parser.HandleNextDocument(rest))
      throw ConfigError("{}: text after the end of the document, or a second document", source);
  } catch (const YAML::Exception& e) {
    throw ConfigError("{}: not YAML: {}", place(source, lines ? e.mark.line + 1 : 0), e.msg);
  }
  return builder.take();
}

Yaml read_yaml(const std::filesystem::path& file, const YamlLimits& limits) {
  const Mmap map(file);
  const auto bytes = map.bytes();
  return parse_yaml({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                    limits);
}

Yaml yaml_scalar(std::string text, std::string source) {
  Yaml value;
  value.kind = Kind::kScalar;
  value.text = std::move(text);
  value.source = std::make_shared<const std::string>(std::move(source));
  return value;
}

std::string yaml_flow(const Yaml& value) {
  if (value.kind == Kind::kNull) return "null";
  if (value.kind == Kind::kScalar) return scalar_text(value);
  const bool map = value.kind == Kind::kMap;
  std::string out;
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += ", ";
    if (map) out += key_text(value.keys[i]) + ": ";
    out += yaml_flow(value.items[i]);
  }
  return map ? "{" + out + "}" : "[" + out + "]";
}

std::string yaml_text(const Yaml& value) {
  if (value.items.empty()) return yaml_flow(value) + "\n";
  std::string out;
  write_block(value, 0, out);
  return out;
}

}  // namespace hone
