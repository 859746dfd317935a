// A row of a data file, whatever the file: named values in their order.
//
//   const auto rows = open_rows("chats.jsonl");
//   while (auto row = rows->next()) use(*row, rows->place());
//
// By the file's extension: .jsonl and .ndjson hold an object a line, .json a list of objects (or
// lines, as many do), .csv and .tsv texts under a header line (RFC 4180), .txt a text a line
// ({"text": ...}), .tfrecord tf.train.Example records, .parquet columns.
//
// Read one row at a time, so that a file may be larger than memory; every length that a file
// states is checked against its real size before anything is allocated. Bad rows are ConfigErrors
// that begin with FILE:LINE (or FILE, row N); a file that cannot be opened is a FileError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hone::data {

using Row = nlohmann::ordered_json;  // an object

struct RowLimits {
  size_t row_bytes = size_t{64} << 20;  // of the longest row
  int depth = 32;
};

class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual std::optional<Row> next() = 0;   // nothing at the end
  virtual std::string place() const = 0;   // of the row that next() gave: "a.jsonl:3"
  virtual int64_t bytes_read() const = 0;  // of the file, so far
};

std::unique_ptr<RowReader> open_rows(const std::filesystem::path& file, const RowLimits& = {});

// The files that a path stands for: itself, or those that match its last part's * and ? in order
// of name. Throws FileError when there is none.
std::vector<std::filesystem::path> expand(const std::string& path);

// One for each kind of file, for open_rows() and tests.
std::unique_ptr<RowReader> open_json_lines(const std::filesystem::path& file, const RowLimits&);
std::unique_ptr<RowReader> open_json(const std::filesystem::path& file, const RowLimits&);
std::unique_ptr<RowReader> open_csv(const std::filesystem::path& file, const RowLimits&,
                                    char separator = ',');
std::unique_ptr<RowReader> open_text(const std::filesystem::path& file, const RowLimits&);
std::unique_ptr<RowReader> open_tfrecord(const std::filesystem::path& file, const RowLimits&);
std::unique_ptr<RowReader> open_parquet(const std::filesystem::path& file, const RowLimits&);

}  // namespace hone::data
