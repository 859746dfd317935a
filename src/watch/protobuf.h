// Protocol Buffers' wire format, written by hand: the few kinds of field that event files need.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hone::watch {

class Protobuf {
 public:
  Protobuf& varint(int field, uint64_t value) {
    tag(field, 0);
    raw_varint(value);
    return *this;
  }
  Protobuf& number(int field, double value) {
    tag(field, 1);
    fixed(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  Protobuf& number(int field, float value) {
    tag(field, 5);
    fixed(std::bit_cast<uint32_t>(value), 4);
    return *this;
  }
  Protobuf& bytes(int field, std::string_view value) {
    tag(field, 2);
    raw_varint(value.size());
    out_ += value;
    return *this;
  }
  Protobuf& message(int field, const Protobuf& value) { return bytes(field, value.out_); }
  Protobuf& packed(int field, std::span<const double> values) {
    tag(field, 2);
    raw_varint(8 * values.size());
    for (const double v : values) fixed(std::bit_cast<uint64_t>(v), 8);
    return *this;
  }

  const std::string& text() const { return out_; }

 private:
  void tag(int field, unsigned wire) { raw_varint(static_cast<unsigned>(field) << 3 | wire); }
  void raw_varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) out_ += static_cast<char>(v | 0x80);
    out_ += static_cast<char>(v);
  }
  void fixed(uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(v >> (8 * i));
  }

  std::string out_;
};

}  // namespace hone::watch
