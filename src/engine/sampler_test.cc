#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "base/error.h"

namespace hone::engine {
namespace {

const std::vector<float> kLogits = {std::log(0.4F), std::log(0.3F), std::log(0.2F), std::log(0.1F)};

std::map<int32_t, int> draw(const Sampling& s, int times = 4000) {
  Random random(7);
  std::map<int32_t, int> seen;
  for (int i = 0; i < times; ++i) ++seen[sample(kLogits, s, random)];
  return seen;
}

TEST(Sampler, ZeroTemperatureTakesTheMostLikely) {
  EXPECT_EQ(draw({.temperature = 0}).size(), 1U);
  Random random(1);
  EXPECT_EQ(sample(std::vector<float>{1, 3, 3}, {}, random), 1);
}

TEST(Sampler, FiltersLeaveTheRightTokens) {
  struct Row {
    Sampling sampling;
    size_t left;
  };
  const Row rows[] = {
      {{.temperature = 1}, 4},
      {{.temperature = 1, .top_k = 2}, 2},
      {{.temperature = 1, .top_k = 9}, 4},
      {{.temperature = 1, .top_p = 0.4}, 1},
      {{.temperature = 1, .top_p = 0.41}, 2},
      {{.temperature = 1, .top_p = 0.75}, 3},
      {{.temperature = 1, .min_p = 0.45}, 3},
      {{.temperature = 1, .min_p = 0.9}, 1},
      {{.temperature = 1, .top_k = 3, .top_p = 0.8, .min_p = 0.6}, 2},
  };
  for (const Row& r : rows) EXPECT_EQ(draw(r.sampling).size(), r.left);
}

TEST(Sampler, DrawsInProportion) {
  const auto seen = draw({.temperature = 1}, 20000);
  for (int32_t t = 0; t < 4; ++t) EXPECT_NEAR(seen.at(t) / 20000.0, 0.4 - 0.1 * t, 0.015);
  const auto cold = draw({.temperature = 0.5}, 20000);  // squares of the probabilities
  EXPECT_NEAR(cold.at(0) / 20000.0, 0.16 / 0.30, 0.015);
}

TEST(Sampler, LogitsThatAreNotNumbersAreAnError) {
  Random random(1);
  EXPECT_THROW(sample(std::vector<float>{1, NAN}, {}, random), Error);
}

}  // namespace
}  // namespace hone::engine
