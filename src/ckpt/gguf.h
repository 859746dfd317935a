// A GGUF file: typed metadata and tensors, read in place from a memory mapping.
//
// Versions 2 and 3, little-endian (ggml/docs/gguf.md). Every count, length, offset and product of
// dimensions is checked against the file's real size before anything is allocated for it; the
// constructors throw FileError, one line, on the first lie. All views point into the mapping and
// live as long as the Gguf (moves keep them valid).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mmap.h"
#include "base/type.h"
#include "ckpt/dequant.h"

namespace hone::ckpt {

class Cursor;

struct GgufTensor {
  std::string_view name;
  GgmlType type;
  Dims dims;  // row-major, slowest first: ggml's ne reversed
  std::span<const std::byte> bytes;
};

// Whether the file begins as GGUF files do, whatever it is called. False when it cannot be read.
bool is_gguf(const std::filesystem::path& path);

class Gguf {
 public:
  explicit Gguf(const std::filesystem::path& path);
  // From memory that outlives the Gguf; `name` stands for the path in messages.
  Gguf(std::span<const std::byte> bytes, std::string name);

  const std::string& path() const { return path_; }

  // Metadata. A missing key is nullopt or an empty vector; another type than the one asked for is
  // a FileError that names the key. integer() and integers() take any integer width, integers()
  // also bools; real() and reals() take f32 and f64.
  std::optional<std::string_view> text(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::vector<std::string_view> texts(std::string_view key) const;
  std::vector<int64_t> integers(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  bool is_array(std::string_view key) const;   // false when absent
  std::vector<std::string_view> keys() const;  // in file order

  std::span<const GgufTensor> tensors() const { return tensors_; }  // in file order
  const GgufTensor* find(std::string_view name) const;              // null when absent

 private:
  struct Value {
    std::string_view key;
    uint32_t type;  // GGUF's number; of the elements when array is set
    bool array;
    uint64_t count;                    // 1 for a scalar
    std::span<const std::byte> bytes;  // count values as stored
  };

  void parse(std::span<const std::byte> file);
  void read_value(Cursor& cursor);
  void read_tensors(Cursor& cursor, std::span<const std::byte> file, uint64_t count);
  void check_overlaps() const;
  uint64_t alignment() const;
  const Value* value(std::string_view key) const;
  const Value* value(std::string_view key, bool array, std::string_view wanted,
                     bool (*accepts)(uint32_t type)) const;

  int64_t load_integer(const Value& from, const std::byte* at) const;

  std::unique_ptr<Mmap> map_;  // null when the bytes are the caller's
  std::string path_;
  std::vector<Value> values_;
  std::vector<uint32_t> values_by_key_;  // indices, sorted
  std::vector<GgufTensor> tensors_;
  std::vector<uint32_t> tensors_by_name_;
};

}  // namespace hone::ckpt
