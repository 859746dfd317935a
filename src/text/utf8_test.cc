#include "text/utf8.h"

#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "base/quote.h"
#include "base/random.h"

namespace hone::text {
namespace {

// A start of some character: there are bytes that complete it.
bool is_start(const std::string& bytes, int more = 3) {
  if (valid_utf8(bytes)) return true;
  if (more == 0) return false;
  for (const char* const next : {"\x80", "\x90", "\xA0", "\xBF"})
    if (is_start(bytes + next, more - 1)) return true;
  return false;
}

// The definition, slowly: characters, and U+FFFD for each longest start of one that breaks off.
std::string mended(const std::string& bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    size_t size = 0;
    for (size_t n = 1; n <= 4 && size == 0; ++n)
      if (at + n <= bytes.size() && valid_utf8(bytes.substr(at, n))) size = n;
    if (size > 0) {
      out += bytes.substr(at, size);
    } else {
      size = 1;
      while (at + size < bytes.size() && is_start(bytes.substr(at, size + 1))) ++size;
      out += "\uFFFD";
    }
    at += size;
  }
  return out;
}

std::string random_bytes(Random& random) {
  static const std::vector<std::string> kParts = {"a",
                                                  "é",
                                                  "你",
                                                  "😀",
                                                  "👩‍💻",
                                                  "\xEF\xBF\xBD",
                                                  "\xE4\xBD",
                                                  "\xE4",
                                                  "\xF0\x9F\x98",
                                                  "\xF0\x9F",
                                                  "\xF0",
                                                  "\xC3",
                                                  "\x80",
                                                  "\xBF",
                                                  "\xC0\x80",
                                                  "\xE0\x80\x80",
                                                  "\xED\xA0\x80",
                                                  "\xF4\x90\x80\x80",
                                                  "\xF5",
                                                  "\xFF",
                                                  std::string(1, '\0')};
  std::string bytes;
  for (int64_t n = random.below(7); n > 0; --n) {
    if (random.below(4) == 0)
      bytes += static_cast<char>(random.bits());
    else
      bytes += random.pick(kParts);
  }
  return bytes;
}

TEST(Utf8Stream, GivesTheSameHoweverTheBytesAreCut) {
  Random random(7);
  size_t cuts = 0, strings = 0;
  for (; strings < 10'000; ++strings) {
    const std::string bytes = random_bytes(random), whole = mended(bytes);
    for (size_t cut = 0; cut <= bytes.size(); ++cut, ++cuts) {
      Utf8Stream stream;
      const std::string first = stream.push(bytes.substr(0, cut));
      const std::string second = stream.push(bytes.substr(cut));
      ASSERT_TRUE(valid_utf8(first)) << quote(bytes);
      ASSERT_EQ(first + second + stream.finish(), whole) << quote(bytes) << " cut at " << cut;
    }
    Utf8Stream stream;
    std::string out;
    for (const char byte : bytes) out += stream.push({&byte, 1});
    ASSERT_EQ(out + stream.finish(), whole) << quote(bytes);
  }
  std::cout << strings << " strings, " << cuts << " cuts\n";
  EXPECT_GE(cuts, 50'000u);
}

TEST(Utf8Stream, WaitsForNoMoreThanACharacter) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.push("\x98\x80"), "😀");
  EXPECT_EQ(stream.push("\xE4\xBD"
                        "b"),
            "\uFFFD"
            "b");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8, KnowsWhiteSpace) {
  EXPECT_EQ(
      leading_space(" \t\r\n\v\f\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000x "),
      34u);
  EXPECT_EQ(trailing_space(" x\u3000 \n"), 5u);
  EXPECT_EQ(leading_space("\u200b "), 0u);  // a zero-width space is none
  EXPECT_EQ(leading_space(" \n"), 2u);
  EXPECT_EQ(trailing_space(" \n"), 2u);
  EXPECT_EQ(leading_space(""), 0u);
}

}  // namespace
}  // namespace hone::text
