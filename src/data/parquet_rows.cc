#include <hone_bridge.h>

#include "base/error.h"
#include "base/json.h"
#include "data/row.h"
#include "text/bridge.h"

namespace hone::data {
namespace {

class ParquetRows : public RowReader {
 public:
  ParquetRows(const std::filesystem::path& file, const RowLimits& limits)
      : name_(file.string()), limits_(limits) {
    std::error_code failed;
    size_ = static_cast<int64_t>(std::filesystem::file_size(file, failed));
    HoneParquet* handle = nullptr;
    text::check_bridge<FileError>(hone_parquet_open(text::view(name_), &handle),
                                  fmt::format("cannot open {}", name_));
    handle_.reset(handle);
  }

  std::optional<Row> next() override {
    ++row_;
    HoneText row{nullptr, 0};
    text::check_bridge<FileError>(hone_parquet_next(handle_.get(), &row), place());
    if (row.data == nullptr) {
      done_ = true;
      return std::nullopt;
    }
    return parse_ordered_json(text::take(row), place(),
                              {.bytes = limits_.row_bytes, .depth = limits_.depth});
  }
  std::string place() const override { return fmt::format("{}, row {}", name_, row_); }
  int64_t bytes_read() const override { return done_ ? size_ : 0; }  // the crate does not say

 private:
  struct Free {
    void operator()(HoneParquet* parquet) const { hone_parquet_free(parquet); }
  };

  std::string name_;
  RowLimits limits_;
  std::unique_ptr<HoneParquet, Free> handle_;
  int64_t row_ = 0, size_ = 0;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RowReader> open_parquet(const std::filesystem::path& file,
                                        const RowLimits& limits) {
  return std::make_unique<ParquetRows>(file, limits);
}

}  // namespace hone::data
