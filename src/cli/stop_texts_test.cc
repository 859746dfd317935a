#include "cli/stop_texts.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hone::cli {
namespace {

std::string shown(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopTexts s(stops);
  std::string out;
  for (const std::string& p : pieces) out += s.push(p);
  return s.met() ? out : out + s.rest();
}

TEST(StopTexts, EndTheTextAtTheFirstOfThem) {
  EXPECT_EQ(shown({}, {"abc"}), "abc");
  EXPECT_EQ(shown({"b"}, {"abc"}), "a");
  EXPECT_EQ(shown({"bc", "b"}, {"ab", "c"}), "a");
  EXPECT_EQ(shown({"endmodule"}, {"x end", "mod", "ule y"}), "x ");
  EXPECT_EQ(shown({"endmodule"}, {"x end", "mod", "el"}), "x endmodel");
  EXPECT_EQ(shown({"aab"}, {"aaa", "ab"}), "aa");
  EXPECT_EQ(shown({""}, {"abc"}), "abc");
}

// However the text is cut, the result is the whole text's up to its first stop text.
TEST(StopTexts, EveryCutGivesTheSame) {
  Random random(3);
  int cases = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += static_cast<char>('a' + random.below(3));
    const std::vector<std::string> stops = {"abc", "bb", "cabc"};
    size_t end = std::string::npos;
    for (const std::string& s : stops) end = std::min(end, text.find(s));
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      pieces.push_back(text.substr(at, static_cast<size_t>(random.between(1, 4))));
      at += pieces.back().size();
    }
    EXPECT_EQ(shown(stops, pieces), text.substr(0, end)) << text;
    ++cases;
  }
  EXPECT_GE(cases, 3000);
}

}  // namespace
}  // namespace hone::cli
