// Reads little-endian numbers and strings from bytes that nobody vouches for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace hone::ckpt {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

// A number at any alignment.
template <class T>
T load(const std::byte* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

class Cursor {
 public:
  // `file` names the bytes in messages and outlives the Cursor.
  Cursor(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  size_t position() const { return position_; }
  const std::byte* here() const { return bytes_.data() + position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  // The next n bytes; FileError when fewer are left. `what` completes "ends inside ...".
  std::span<const std::byte> take(uint64_t n, std::string_view what) {
    if (n > remaining())
      throw FileError("{} ends inside {} (it needs {} bytes and {} are left); incomplete download?",
                      file_, what, n, remaining());
    const auto out = bytes_.subspan(position_, n);
    position_ += n;
    return out;
  }
  template <class T>
  T number(std::string_view what) {
    return load<T>(take(sizeof(T), what).data());
  }
  // A u64 length and that many bytes.
  std::string_view text(std::string_view what) {
    const auto bytes = take(number<uint64_t>(what), what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
  size_t position_ = 0;
};

}  // namespace hone::ckpt
