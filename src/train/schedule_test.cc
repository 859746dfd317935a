// Schedules against transformers and PyTorch (tools/golden_optim.py), step by step.
#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "train/golden_tensors.h"

namespace hone::train {
namespace {

constexpr size_t kCases = 16;

OptimRecipe recipe_of(const nlohmann::json& c) {
  OptimRecipe r;
  r.schedule = c["kind"];
  r.warmup = c["warmup"];
  r.floor = c["floor"];
  r.cooldown = c["cooldown"];
  return r;
}

TEST(Schedule, EveryStepEqualsTheReferences) {
  const nlohmann::json golden = read_json(kGolden / "schedules.json");
  std::set<std::string> kinds;
  size_t cases = 0;
  double worst = 0;
  for (const nlohmann::json& c : golden["cases"]) {
    OptimRecipe recipe = recipe_of(c);
    recipe.lr = golden["peak"];
    const int64_t steps = golden["steps"];
    ASSERT_EQ(c["rates"].size(), static_cast<size_t>(steps));
    const Schedule schedule = schedule_of(recipe, steps);
    for (int64_t i = 0; i < steps; ++i) {
      const double want = c["rates"][static_cast<size_t>(i)];
      const double off = std::abs(schedule.at(i) - want) / recipe.lr;
      EXPECT_LE(off, 1e-12) << c["kind"] << ", warm-up " << c["warmup"] << ", step " << i;
      worst = std::max(worst, off);
    }
    kinds.insert(recipe.schedule);
    ++cases;
  }
  std::printf("%zu schedules of %zu kinds, within %.1e of the peak\n", cases, kinds.size(), worst);
  EXPECT_GE(cases, kCases);
  EXPECT_EQ(kinds.size(), 5U);
}

// Runs so short that phases have no length, and steps beyond the end.
TEST(Schedule, StaysBetweenZeroAndThePeak) {
  size_t rates = 0;
  for (const char* kind : {"constant", "linear", "cosine", "wsd", "one-cycle"})
    for (const double warmup : {0.0, 0.03, 0.99, 1.0, 2.0, 100.0})
      for (const double cooldown : {0.0, 0.2, 1.0})
        for (const int64_t steps : {1, 2, 3, 10}) {
          OptimRecipe r;
          r.schedule = kind;
          r.warmup = warmup;
          r.cooldown = cooldown;
          r.floor = 0.1;
          const Schedule s = schedule_of(r, steps);
          for (int64_t i = 0; i <= steps + 2; ++i, ++rates) {
            EXPECT_GE(s.at(i), 0) << kind << " " << warmup << " " << steps << " " << i;
            EXPECT_LE(s.at(i), r.lr * (1 + 1e-12)) << kind << " " << warmup << " " << steps << i;
          }
        }
  std::printf("%zu rates\n", rates);
  EXPECT_GE(rates, 2500U);
}

}  // namespace
}  // namespace hone::train
