// TFRecord: u64 length, u32 masked crc32c of the length, the bytes, u32 masked crc32c of the bytes;
// all little-endian.
#include "data/tfrecord.h"

#include <cstring>

#include "base/crc32c.h"
#include "base/error.h"
#include "data/byte_reader.h"
#include "data/tf_example.h"

namespace hone::data {
namespace {

constexpr size_t kHead = 12, kTail = 4;

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
std::string_view stored(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

class TfRecord : public RowReader {
 public:
  TfRecord(const std::filesystem::path& file, const RowLimits& limits)
      : in_(file), limits_(limits) {}

  std::optional<Row> next() override {
    if (in_.peek() == ByteReader::kEnd) return std::nullopt;
    ++record_;
    char head[kHead];
    if (!in_.read(head, kHead)) refuse("the file ends inside its length");
    const auto size = load<uint64_t>(head);
    if (masked_crc32c({head, 8}) != load<uint32_t>(head + 8))
      refuse("the checksum of its length is wrong; is this a TFRecord file?");
    if (size > limits_.row_bytes)
      throw ConfigError("{}: the record is longer than {} bytes", place(), limits_.row_bytes);
    if (in_.left() < static_cast<int64_t>(size + kTail)) refuse("the file ends inside it");
    std::string bytes(size, '\0');
    char tail[kTail];
    if (!in_.read(bytes.data(), size) || !in_.read(tail, kTail)) refuse("the file ends inside it");
    if (masked_crc32c(bytes) != load<uint32_t>(tail)) refuse("its checksum is wrong");
    return parse_tf_example(bytes, place(), limits_);
  }
  std::string place() const override { return fmt::format("{}, record {}", in_.name(), record_); }
  int64_t bytes_read() const override { return in_.position(); }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw FileError("{} is damaged: {}", place(), why);
  }

  ByteReader in_;
  RowLimits limits_;
  int64_t record_ = 0;
};

}  // namespace

std::string tfrecord(const Row& row) {
  const std::string bytes = tf_example(row);
  const uint64_t size = bytes.size();
  std::string record(stored(size));
  record += stored(masked_crc32c(stored(size)));
  record += bytes;
  record += stored(masked_crc32c(bytes));
  return record;
}

std::unique_ptr<RowReader> open_tfrecord(const std::filesystem::path& file,
                                         const RowLimits& limits) {
  return std::make_unique<TfRecord>(file, limits);
}

}  // namespace hone::data
