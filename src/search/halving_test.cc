#include "search/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::search {
namespace {

Space halving(int64_t first, int64_t factor, int64_t steps) {
  Space s;
  s.method = "asha";
  s.rungs = {.first = first, .factor = factor};
  s.steps = steps;
  return s;
}

TEST(Halving, RungsAreBelowTheWhole) {
  EXPECT_THAT(rungs_of(halving(10, 3, 270)), testing::ElementsAre(10, 30, 90));
  EXPECT_THAT(rungs_of(halving(10, 3, 271)), testing::ElementsAre(10, 30, 90, 270));
  EXPECT_THAT(rungs_of(halving(1, 2, 2)), testing::ElementsAre(1));
  EXPECT_THAT(rungs_of(halving(1, 1000, 1'000'000'000)), testing::ElementsAre(1, 1000, 1'000'000));
}

// Values that reach one rung in turn, and which of them may go on.
TEST(Halving, OneInFactorGoesOn) {
  struct Case {
    int64_t factor;
    const char* goal;
    std::vector<double> values;
    std::vector<bool> on;
  };
  const Case cases[] = {
      {3, "min", {5, 6, 4, 4.5, 3, 3.5, 9, 4.2, 4.1}, {1, 0, 1, 0, 1, 1, 0, 0, 0}},
      {3, "max", {5, 6, 4, 7}, {1, 1, 0, 1}},
      {2, "min", {1, 2, 3, 1.5, 1.2, 1.1}, {1, 0, 0, 1, 1, 1}},
      {4, "min", {1, 1, 1, 1}, {1, 1, 1, 1}},  // equals are as good as each other
  };
  for (const Case& c : cases) {
    Space space = halving(10, c.factor, 100);
    space.objective.goal = c.goal;
    std::vector<Trial> done;
    std::vector<bool> on;
    for (const double value : c.values) {
      const Measurement m{10, value};
      on.push_back(goes_on(space, m, done));
      done.push_back({.measurements = {m}});
      done.push_back({.measurements = {{5, -100}, {30, 100}}});  // other steps do not count
    }
    EXPECT_EQ(on, c.on) << c.factor << c.goal;
  }
}

TEST(Ranking, CompleteBeforeStoppedBeforeFailed) {
  const auto trial = [](int64_t id, State state, std::optional<double> value, int64_t steps) {
    return Trial{.id = id, .state = state, .value = value, .steps = steps};
  };
  const std::vector<Trial> trials = {
      trial(0, State::kFailed, std::nullopt, 50), trial(1, State::kStopped, 0.1, 10),
      trial(2, State::kComplete, 3, 90),          trial(3, State::kStopped, 0.5, 30),
      trial(4, State::kComplete, 2, 90),          trial(5, State::kStopped, 0.4, 30),
      trial(6, State::kComplete, 2, 90),          trial(7, State::kFailed, std::nullopt, 90)};
  Space space;
  EXPECT_THAT(ranking(space, trials), testing::ElementsAre(4, 6, 2, 5, 3, 1, 0, 7));
  EXPECT_EQ(best_of(space, trials)->id, 4);
  space.objective.goal = "max";
  EXPECT_THAT(ranking(space, trials), testing::ElementsAre(2, 4, 6, 3, 5, 1, 0, 7));
  EXPECT_EQ(best_of(space, std::span(trials).first(1)), nullptr);
}

}  // namespace
}  // namespace hone::search
