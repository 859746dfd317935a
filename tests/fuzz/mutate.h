// Makes hostile inputs out of honest ones, the same on every machine for the same seed.
//
// The mutations know what most of our formats are made of: little-endian numbers, decimal numbers,
// words of the format, and repeated records. Whatever a format needs afterwards to be read deeper
// than its first check (a length that must match, say) is its `repair`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace hone::fuzz {

struct Format {
  std::vector<std::string> seeds;       // small and valid
  std::vector<std::string_view> words;  // what the parser looks for
  void (*repair)(std::string& input, Random& random) = nullptr;
};

class Mutator {
 public:
  explicit Mutator(const Format& format) : format_(format) {}

  // Input number `index`: a seed with one to eight changes.
  std::string input(uint64_t index) const {
    Random random(index);
    std::string bytes = random.pick(format_.seeds);
    change(bytes, random);
    return bytes;
  }

  void change(std::string& bytes, Random& random) const {
    for (int64_t n = random.between(1, random.between(1, 8)); n > 0; --n)
      change_once(bytes, random);
    if (format_.repair != nullptr && random.below(4) != 0) format_.repair(bytes, random);
  }

 private:
  void change_once(std::string& bytes, Random& random) const {
    if (bytes.empty()) bytes = random.pick(format_.seeds);
    switch (random.below(10)) {
      case 0:
        return flip_bit(bytes, random);
      case 1:
        return set_byte(bytes, random);
      case 2:
        return set_number(bytes, random);
      case 3:
        return nudge_number(bytes, random);
      case 4:
        return set_decimal(bytes, random);
      case 5:
        return put_word(bytes, random);
      case 6:
        return erase(bytes, random);
      case 7:
        return repeat(bytes, random);
      case 8:
        return splice(bytes, random);
      default:
        return truncate(bytes, random);
    }
  }

  static size_t position(const std::string& bytes, Random& random) {
    return static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size())));
  }
  static size_t length(size_t most, Random& random) {
    const size_t small = static_cast<size_t>(random.between(1, 16));
    return std::min(most, random.below(4) == 0 ? most : small);
  }

  // Powers of two and their neighbours, up to the largest: where sizes wrap.
  static uint64_t edge(Random& random) {
    const uint64_t power = uint64_t{1} << random.below(64);
    return power + static_cast<uint64_t>(random.between(-1, 1)) -
           (random.below(16) == 0 ? power : 0);
  }

  static void flip_bit(std::string& bytes, Random& random) {
    char& byte = bytes[position(bytes, random)];
    byte = static_cast<char>(byte ^ (1 << random.below(8)));
  }
  static void set_byte(std::string& bytes, Random& random) {
    bytes[position(bytes, random)] = static_cast<char>(random.bits());
  }

  // Overwrites 1, 2, 4 or 8 bytes, mostly where a small number lies already.
  static void set_number(std::string& bytes, Random& random) {
    store(bytes, number_at(bytes, random), edge(random), size_t{1} << random.below(4));
  }
  static void nudge_number(std::string& bytes, Random& random) {
    const size_t at = number_at(bytes, random);
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
    store(bytes, at, value + static_cast<uint64_t>(random.between(-9, 9)), 8);
  }
  static void store(std::string& bytes, size_t at, uint64_t value, size_t width) {
    std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
  }
  static size_t number_at(const std::string& bytes, Random& random) {
    size_t at = position(bytes, random);
    for (int tries = 0; tries < 16; ++tries, at = position(bytes, random)) {
      uint32_t value = 0;
      std::memcpy(&value, bytes.data() + at, std::min<size_t>(4, bytes.size() - at));
      if (value <= bytes.size()) break;
    }
    return at;
  }

  static void set_decimal(std::string& bytes, Random& random) {
    const size_t begin = bytes.find_first_of("0123456789", position(bytes, random));
    if (begin == std::string::npos) return;
    const size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
    const char* const forms[] = {"", "-", "0", "1e", "0."};
    bytes.replace(begin, end - begin,
                  forms[random.below(3) == 0 ? random.below(5) : 0] + std::to_string(edge(random)));
  }

  void put_word(std::string& bytes, Random& random) const {
    if (format_.words.empty()) return;
    const std::string_view word = random.pick(format_.words);
    const size_t at = position(bytes, random);
    bytes.replace(at, random.below(2) == 0 ? 0 : std::min(word.size(), bytes.size() - at), word);
  }

  static void erase(std::string& bytes, Random& random) {
    const size_t at = position(bytes, random);
    bytes.erase(at, length(bytes.size() - at, random));
  }
  static void repeat(std::string& bytes, Random& random) {
    const size_t at = position(bytes, random);
    const std::string piece =
        bytes.substr(at, length(std::min<size_t>(bytes.size() - at, 4096), random));
    bytes.insert(position(bytes, random), piece);
  }
  void splice(std::string& bytes, Random& random) const {
    const std::string& other = random.pick(format_.seeds);
    const size_t at = position(bytes, random);
    bytes = bytes.substr(0, at) + other.substr(std::min(at, other.size()));
  }
  static void truncate(std::string& bytes, Random& random) {
    if (random.below(4) == 0) bytes.resize(position(bytes, random));
  }

  const Format& format_;
};

}  // namespace hone::fuzz
