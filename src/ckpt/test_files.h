// For tests only: builds small checkpoints byte by byte, honest or lying, and scratch folders.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::ckpt::test {

// A number as it lies in a little-endian file.
template <class T>
std::string le(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// An empty folder that goes away with the object.
class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / "hone-test-XXXXXX") {
    std::string name = path_.string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A safetensors file with this header text and buffer.
inline std::string safetensors(std::string_view header, std::string_view buffer = "") {
  return le<uint64_t>(header.size()) + std::string(header) + std::string(buffer);
}

// A GGUF file. The fields may be set to lies before build(); nothing is checked.
class GgufBuilder {
 public:
  struct Tensor {
    std::string name;
    std::vector<uint64_t> ne;  // fastest first, as GGUF stores them
    uint32_t type = 0;
    std::string data;
    std::optional<uint64_t> offset = {};  // of the data; laid end to end when not given
    std::optional<uint32_t> rank = {};    // ne.size() when not given
  };

  uint32_t version = 3;
  uint64_t alignment = 32;  // what the layout uses; the metadata does not name it by itself
  std::optional<uint64_t> tensor_count, key_count;
  std::vector<Tensor> tensors;

  // A metadata value of GGUF's type number, as stored.
  GgufBuilder& raw(std::string_view key, uint32_t type, std::string_view value) {
    metadata_ += text_bytes(key) + le(type) + std::string(value);
    ++keys_;
    return *this;
  }
  GgufBuilder& text(std::string_view key, std::string_view value) {
    return raw(key, 8, text_bytes(value));
  }
  GgufBuilder& u32(std::string_view key, uint32_t value) { return raw(key, 4, le(value)); }
  GgufBuilder& f32(std::string_view key, float value) { return raw(key, 6, le(value)); }
  GgufBuilder& flag(std::string_view key, bool value) {
    return raw(key, 7, value ? "\1" : std::string(1, '\0'));
  }
  GgufBuilder& array(std::string_view key, uint32_t type, uint64_t count, std::string_view values) {
    return raw(key, 9, le(type) + le(count) + std::string(values));
  }
  GgufBuilder& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string all;
    for (const std::string& v : values) all += text_bytes(v);
    return array(key, 8, values.size(), all);
  }
  template <class T>
  GgufBuilder& numbers(std::string_view key, uint32_t type, const std::vector<T>& values) {
    std::string all;
    for (const T v : values) all += le(v);
    return array(key, type, values.size(), all);
  }
  GgufBuilder& tensor(Tensor t) {
    tensors.push_back(std::move(t));
    return *this;
  }

  std::string build() const {
    std::string out = "GGUF" + le(version) + le(tensor_count.value_or(tensors.size())) +
                      le(key_count.value_or(keys_)) + metadata_;
    std::string data;
    for (const Tensor& t : tensors) {
      pad(data);
      out += text_bytes(t.name) + le(t.rank.value_or(static_cast<uint32_t>(t.ne.size())));
      for (const uint64_t n : t.ne) out += le(n);
      out += le(t.type) + le(t.offset.value_or(data.size()));
      data += t.data;
    }
    pad(out);
    return out + data;
  }

  static std::string text_bytes(std::string_view value) {
    return le<uint64_t>(value.size()) + std::string(value);
  }

 private:
  void pad(std::string& bytes) const {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  }

  std::string metadata_;
  uint64_t keys_ = 0;
};

}  // namespace hone::ckpt::test
