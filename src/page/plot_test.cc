#include "page/plot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "page/style.h"

namespace hone::page {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Axis, TicksAreRoundAndInside) {
  struct Case {
    double low, high;
    bool log;
  };
  for (const Case& c : {Case{0, 1, false},
                        {-3.2, 17, false},
                        {1e-9, 1e-8, false},
                        {1234, 1235, false},
                        {5, 5, false},
                        {0, 0, false},
                        {1e-6, 1, true},
                        {2, 64, true},
                        {3, 4, true},
                        {900, 1e6, true}}) {
    const Axis a = number_axis(c.low, c.high, c.log);
    SCOPED_TRACE(fmt::format("{} {}", c.low, c.high));
    EXPECT_LE(a.ticks.size(), 13u);
    EXPECT_GE(a.ticks.size(), 3u);
    for (const auto& [at, label] : a.ticks)
      EXPECT_TRUE(at >= a.low && at <= a.high + 1e-9) << label;
    EXPECT_EQ(a.share(a.low), 0);
    EXPECT_EQ(a.share(a.high), 1);
  }
}

TEST(Plot, LooksLeaveOutWhatIsNoNumber) {
  Plot plot({}, number_axis(0, 2, false), number_axis(0, 1, false));
  const std::vector<std::pair<double, double>> points = {{0, 0.5}, {1, NAN}, {2, 0.1}};
  plot.looks(points, std::vector<std::string>{"first", "none", "<last>"});
  const std::string svg = plot.svg("x", "y");
  EXPECT_THAT(svg, HasSubstr("first"));
  EXPECT_THAT(svg, HasSubstr("&lt;last&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("none")));
}

TEST(Style, TheTitleIsEscaped) {
  EXPECT_THAT(head("<script>'\""), HasSubstr("<h1>&lt;script&gt;&#39;&quot;</h1>"));
}

}  // namespace
}  // namespace hone::page
