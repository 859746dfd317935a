// Comma-separated values as RFC 4180 has them: a header line, fields that may stand in double
// quotes with line ends and doubled quotes inside. Every value is text.
#include <algorithm>

#include "base/error.h"
#include "base/quote.h"
#include "data/byte_reader.h"
#include "data/row.h"

namespace hone::data {
namespace {

constexpr size_t kMostColumns = 1000;

class Csv : public RowReader {
 public:
  Csv(const std::filesystem::path& file, const RowLimits& limits, char separator)
      : in_(file), limits_(limits), separator_(separator) {
    skip_byte_order_mark();
    if (!record(header_)) throw ConfigError("{} is empty: it has no header line", in_.name());
    for (const std::string& column : header_)
      if (!valid_utf8(column))
        throw ConfigError("{}:1: the column {} is not UTF-8", in_.name(), quote(column));
    std::vector<std::string> sorted = header_;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      throw ConfigError("{}:1: the column {} appears twice", in_.name(), quote(*twice));
  }

  std::optional<Row> next() override {
    std::vector<std::string> fields;
    do {
      if (!record(fields)) return std::nullopt;
    } while (fields.size() == 1 && fields[0].empty() && header_.size() > 1);  // an empty line
    if (fields.size() != header_.size())
      throw ConfigError("{}: {} fields, but the header has {}", place(), fields.size(),
                        header_.size());
    Row row = Row::object();
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!valid_utf8(fields[i]))
        throw ConfigError("{}: column {} is not UTF-8", place(), quote(header_[i]));
      row[header_[i]] = std::move(fields[i]);
    }
    return row;
  }
  std::string place() const override { return fmt::format("{}:{}", in_.name(), first_line_); }
  int64_t bytes_read() const override { return in_.position(); }

 private:
  void skip_byte_order_mark() {
    if (in_.buffered().starts_with("\xef\xbb\xbf")) in_.take(3);
  }

  // The fields up to the end of the record; false at the end of the file.
  bool record(std::vector<std::string>& fields) {
    fields.clear();
    if (in_.peek() == ByteReader::kEnd) return false;
    first_line_ = line_;
    size_t bytes = 0;
    bool more = true;
    while (more) {
      if (fields.size() == kMostColumns)
        throw ConfigError("{}: more than {} columns", place(), kMostColumns);
      more = field(fields.emplace_back(), bytes);
    }
    return true;
  }

  // One field; true when another follows in the record.
  bool field(std::string& text, size_t& bytes) {
    const bool quoted = in_.peek() == '"';
    if (quoted) read_quoted(text, bytes);
    for (int c = in_.get(); c != ByteReader::kEnd; c = in_.get()) {
      if (c == separator_) return true;
      if (c == '\r' && in_.peek() == '\n') c = in_.get();
      if (c == '\n') {
        ++line_;
        return false;
      }
      if (quoted) throw ConfigError("{}: text after a closing quote", place());
      if (c == '"')
        throw ConfigError("{}: a quote inside a field that has none around it", place());
      add(text, c, bytes);
    }
    return false;
  }

  void read_quoted(std::string& text, size_t& bytes) {
    in_.get();
    for (int c = in_.get(); c != ByteReader::kEnd; c = in_.get()) {
      if (c == '"') {
        if (in_.peek() != '"') return;
        in_.get();
      }
      line_ += c == '\n' ? 1 : 0;
      add(text, c, bytes);
    }
    throw ConfigError("{}: a quote that is never closed", place());
  }

  void add(std::string& text, int c, size_t& bytes) {
    if (++bytes > limits_.row_bytes)
      throw ConfigError("{}: the row is longer than {} bytes", place(), limits_.row_bytes);
    text.push_back(static_cast<char>(c));
  }

  ByteReader in_;
  RowLimits limits_;
  char separator_;
  std::vector<std::string> header_;
  int64_t line_ = 1, first_line_ = 1;
};

}  // namespace

std::unique_ptr<RowReader> open_csv(const std::filesystem::path& file, const RowLimits& limits,
                                    char separator) {
  return std::make_unique<Csv>(file, limits, separator);
}

}  // namespace hone::data
