#include "cli/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/terminal.h"

namespace hone::cli {
namespace {

ProgressState state(int64_t done, int64_t total, double seconds, ProgressValues values = {}) {
  return {done, total, seconds, std::move(values)};
}

TEST(Progress, LineHasTheFormOfTqdm) {
  const ProgressValues values = {{"loss", "0.713"}, {"lr", "9.8e-05"}, {"tok/s", "7630"}};
  EXPECT_EQ(
      progress_line(state(120, 1000, 130.8, values), 85),
      " 12%|█▏        | 120/1000 [02:10<15:59, 1.09s/it, loss=0.713, lr=9.8e-05, tok/s=7630]");
}

TEST(Progress, LineFitsAndGivesWayInOrder) {
  const ProgressState s = state(50, 100, 25, {{"loss", "1.5"}, {"lr", "0.1"}});
  const struct {
    int width;
    const char* line;
  } cases[] = {
      {200,
       " 50%|████████████████████                    | 50/100 [00:25<00:25, 2.00it/s, loss=1.5, "
       "lr=0.1]"},
      {60, " 50%|██▌  | 50/100 [00:25<00:25, 2.00it/s, loss=1.5, lr=0.1]"},
      {50, " 50%|█▌ | 50/100 [00:25<00:25, 2.00it/s, loss=1.5]"},
      {40, " 50%|█▌ | 50/100 [00:25<00:25, 2.00it/s]"},
      {20, " 50% 50/100 [00:25<0"},
      {0, ""},
  };
  for (const auto& c : cases) EXPECT_EQ(progress_line(s, c.width), c.line) << c.width;
}

// Columns of a text whose characters are all one column wide.
int columns_of(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST(Progress, LineNeverExceedsItsWidth) {
  for (int width = 0; width < 120; ++width)
    for (int64_t done = 0; done <= 8; ++done)
      EXPECT_LE(columns_of(progress_line(state(done, 8, 9, {{"loss", "1.5"}}), width)), width);
}

TEST(Progress, EdgesAreSane) {
  EXPECT_EQ(progress_line(state(0, 10, 0), 40), "  0%|            | 0/10 [00:00<?, ?it/s]");
  EXPECT_EQ(progress_line(state(10, 10, 5), 45), "100%|█████████| 10/10 [00:05<00:00, 2.00it/s]");
  EXPECT_EQ(progress_line(state(11, 10, 5), 45).substr(0, 4), "100%");
  EXPECT_EQ(plain_line(state(3, 0, 3)), "  0% 3 [00:03<?, 1.00it/s]");
  EXPECT_EQ(progress_line(state(5, 10, 5), 40, true),
            " 50%|\x1b[32m██▌  \x1b[0m| 5/10 [00:05<00:05, 1.00it/s]");
}

TEST(Progress, ClockText) {
  EXPECT_EQ(clock_text(0), "00:00");
  EXPECT_EQ(clock_text(59.9), "00:59");
  EXPECT_EQ(clock_text(3661), "1:01:01");
  EXPECT_EQ(clock_text(360000), "100:00:00");
  for (const double odd : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(clock_text(odd), "?");
}

std::string written(bool bar, int steps, double seconds_a_step) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  double now = 0;
  {
    Progress progress(steps, {.out = out, .bar = bar, .colour = false, .width = 50, .seconds = [&] {
                                return now;
                              }});
    for (int i = 1; i <= steps; ++i) {
      now += seconds_a_step;
      progress.update(i, {{"loss", "1"}});
      if (i == 2) progress.say("a message");
    }
  }
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

TEST(Progress, PlainLinesComeAtTenthsAndHalfMinutes) {
  const std::string quick = written(false, 100, 0.01);
  EXPECT_EQ(std::ranges::count(quick, '\n'), 11) << quick;
  EXPECT_EQ(quick.find('\r'), std::string::npos);
  EXPECT_TRUE(quick.ends_with("100% 100/100 [00:01<00:00, 100.00it/s, loss=1]\n")) << quick;
  EXPECT_EQ(std::ranges::count(written(false, 5, 31), '\n'), 6);
}

TEST(Progress, BarIsRedrawnAtMostTenTimesASecond) {
  const std::string bar = written(true, 1000, 0.001);
  EXPECT_LE(std::ranges::count(bar, '\r'), 12);
  EXPECT_GE(std::ranges::count(bar, '\r'), 9);
  EXPECT_EQ(std::ranges::count(bar, '\n'), 2);
  EXPECT_TRUE(bar.ends_with("\x1b[K\n"));
}

TEST(Terminal, EnvironmentDecides) {
  setenv("HONE_TEST_VARIABLE", "1", 1);
  EXPECT_TRUE(environment_set("HONE_TEST_VARIABLE"));
  setenv("HONE_TEST_VARIABLE", "0", 1);
  EXPECT_FALSE(environment_set("HONE_TEST_VARIABLE"));
  unsetenv("HONE_TEST_VARIABLE");
  EXPECT_FALSE(environment_set("HONE_TEST_VARIABLE"));
}

}  // namespace
}  // namespace hone::cli
