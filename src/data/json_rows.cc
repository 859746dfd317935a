// JSON lines, and JSON lists of objects, one object at a time.
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "data/byte_reader.h"
#include "data/row.h"

namespace hone::data {
namespace {

bool is_space(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Row object_of(const std::string& text, const std::string& place, const RowLimits& limits) {
  Row row = parse_ordered_json(text, place, {.bytes = limits.row_bytes, .depth = limits.depth});
  if (!row.is_object()) throw ConfigError("{}: the row is not an object", place);
  return row;
}

class JsonLines : public RowReader {
 public:
  JsonLines(const std::filesystem::path& file, const RowLimits& limits)
      : in_(file), limits_(limits) {}

  std::optional<Row> next() override {
    std::string text;
    while (read_line(in_, text, ++line_, limits_.row_bytes)) {
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      return object_of(text, place(), limits_);
    }
    return std::nullopt;
  }
  std::string place() const override { return fmt::format("{}:{}", in_.name(), line_); }
  int64_t bytes_read() const override { return in_.position(); }

 private:
  ByteReader in_;
  RowLimits limits_;
  int64_t line_ = 0;
};

// [ {...}, {...} ]: the text of each item is cut out by its brackets and strings, then parsed.
class JsonList : public RowReader {
 public:
  JsonList(const std::filesystem::path& file, const RowLimits& limits)
      : in_(file), limits_(limits) {}

  std::optional<Row> next() override {
    if (done_) return std::nullopt;
    skip_space();
    if (row_ == 0) expect('[', "a list");
    skip_space();
    if (in_.peek() == ']') return end();
    if (row_ > 0) {
      expect(',', "a comma or the end of the list");
      skip_space();
    }
    ++row_;
    first_line_ = line_;
    return object_of(item(), place(), limits_);
  }
  std::string place() const override {
    return fmt::format("{}:{} (item {})", in_.name(), first_line_, row_);
  }
  int64_t bytes_read() const override { return in_.position(); }

 private:
  std::optional<Row> end() {
    in_.get();
    skip_space();
    if (in_.peek() != ByteReader::kEnd)
      throw ConfigError("{}:{}: there is more after the list", in_.name(), line_);
    done_ = true;
    return std::nullopt;
  }
  int get() {
    const int c = in_.get();
    line_ += c == '\n' ? 1 : 0;
    return c;
  }
  void skip_space() {
    while (is_space(in_.peek())) get();
  }
  void expect(char wanted, std::string_view what) {
    if (in_.peek() != wanted) throw ConfigError("{}:{}: expected {}", in_.name(), line_, what);
    get();
  }

  // Up to the bracket that closes what the item opens; a bare value up to the next comma.
  std::string item() {
    std::string text;
    int depth = 0;
    bool quoted = false;
    for (int c = in_.peek(); c != ByteReader::kEnd; c = in_.peek()) {
      if (!quoted && depth == 0 && !text.empty() && (c == ',' || c == ']')) break;
      if (text.size() == limits_.row_bytes)
        throw ConfigError("{}: longer than {} bytes", place(), limits_.row_bytes);
      text.push_back(static_cast<char>(get()));
      if (quoted && c == '\\' && in_.peek() != ByteReader::kEnd) {
        text.push_back(static_cast<char>(get()));
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && (c == '{' || c == '[')) {
        ++depth;
      } else if (!quoted && (c == '}' || c == ']') && --depth == 0) {
        break;
      }
    }
    return text;
  }

  ByteReader in_;
  RowLimits limits_;
  int64_t line_ = 1, first_line_ = 1, row_ = 0;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RowReader> open_json_lines(const std::filesystem::path& file,
                                           const RowLimits& limits) {
  return std::make_unique<JsonLines>(file, limits);
}

std::unique_ptr<RowReader> open_json(const std::filesystem::path& file, const RowLimits& limits) {
  ByteReader in(file);
  while (is_space(in.peek())) in.get();
  if (in.peek() == '{') return open_json_lines(file, limits);
  return std::make_unique<JsonList>(file, limits);
}

}  // namespace hone::data
