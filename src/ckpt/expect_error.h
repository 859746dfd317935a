// For tests only: an action fails with one clear line.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hone::ckpt::test {

// Expects an E whose message holds `fragment` and is one printable line of a sane length.
template <class E = FileError>
void expect_error(const std::function<void()>& action, std::string_view fragment) {
  std::string message;
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << fragment;
    return;
  } catch (const E& e) {
    message = e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another kind of error: " << e.what();
    return;
  }
  EXPECT_THAT(message, testing::HasSubstr(std::string(fragment)));
  EXPECT_LE(message.size(), 500u) << message;
  EXPECT_TRUE(std::ranges::none_of(message, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      << message;
}

// What a table of bad inputs prints, so that a table that shrank is seen.
inline void report_cases(std::string_view what, size_t cases, size_t floor) {
  std::printf("%.*s: %zu cases\n", static_cast<int>(what.size()), what.data(), cases);
  EXPECT_GE(cases, floor) << what;
}

}  // namespace hone::ckpt::test
