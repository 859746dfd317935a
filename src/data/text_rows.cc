// Plain text: each line that is not blank is {"text": line}.
#include "base/error.h"
#include "base/quote.h"
#include "data/byte_reader.h"
#include "data/row.h"

namespace hone::data {
namespace {

class TextLines : public RowReader {
 public:
  TextLines(const std::filesystem::path& file, const RowLimits& limits)
      : in_(file), limits_(limits) {}

  std::optional<Row> next() override {
    std::string text;
    while (read_line(in_, text, ++line_, limits_.row_bytes)) {
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (!valid_utf8(text)) throw ConfigError("{}: the line is not UTF-8", place());
      return Row{{"text", text}};
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

}  // namespace

std::unique_ptr<RowReader> open_text(const std::filesystem::path& file, const RowLimits& limits) {
  return std::make_unique<TextLines>(file, limits);
}

}  // namespace hone::data
