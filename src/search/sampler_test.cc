// Samplers on functions whose optimum is known.
#include "search/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "search/parzen.h"

namespace hone::search {
namespace {

using Function = std::function<double(std::span<const double>)>;

Space space_of(const std::string& text) {
  Space space;
  read_fields(parse_yaml(text, "space.yaml"), space);
  check_space(space, "space.yaml");
  return space;
}

std::string never(std::span<const double>) { return ""; }

std::vector<Trial> study(Space space, const std::string& method, int64_t seed,
                         const Function& function) {
  space.method = method;
  space.seed = seed;
  std::vector<Trial> done;
  for (int64_t id = 0; id < *space.trials; ++id) {
    Trial t;
    t.id = id;
    t.numbers = suggest(space, done, never).numbers;
    t.value = function(t.numbers);
    t.state = State::kComplete;
    done.push_back(t);
  }
  return done;
}

// Branin's function: three minima of 0.397887.
double branin(std::span<const double> x) {
  constexpr double pi = std::numbers::pi;
  const double a = x[1] - 5.1 / (4 * pi * pi) * x[0] * x[0] + 5 / pi * x[0] - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x[0]) + 10;
}

// Like a training run: a best rate, a best rank, two of three schedules as good, and one key that
// does nothing. The minimum is 0.
double tuning(std::span<const double> x) {
  const double rate = std::log10(x[0]) + 3.3, rank = std::log2(x[1]) - 4;
  return rate * rate + 0.1 * rank * rank + (x[2] == 1 ? 0.5 : 0) + 4 * x[4] * x[4];
}

struct Contest {
  const char* name;
  const char* space;
  Function function;
};

TEST(Tpe, BeatsRandomOnTwoFunctions) {
  const Contest contests[] = {
      {"branin", "parameters: {x: {uniform: [-5, 10]}, y: {uniform: [0, 15]}}\ntrials: 60\n",
       branin},
      {"tuning",
       "parameters: {lr: {log_uniform: [1e-6, 1e-1]}, rank: {log_integer: [1, 128]}, "
       "schedule: [constant, linear, cosine], seed: {integer: [0, 9]}, "
       "decay: {uniform: [0, 1]}}\ntrials: 60\n",
       tuning},
  };
  constexpr int kSeeds = 20;
  for (const Contest& c : contests) {
    const Space space = space_of(c.space);
    double tpe_sum = 0, random_sum = 0;
    int wins = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto best = [&](const char* method) {
        return *best_of(space, study(space, method, seed, c.function))->value;
      };
      const double tpe = best("tpe"), random = best("random");
      tpe_sum += tpe;
      random_sum += random;
      wins += tpe < random;
    }
    std::printf("%s, 60 trials, %d seeds: tpe %.3f, random %.3f on average; tpe ahead %d times\n",
                c.name, kSeeds, tpe_sum / kSeeds, random_sum / kSeeds, wins);
    EXPECT_GE(wins, 14) << c.name;
    EXPECT_LT(tpe_sum, 0.7 * random_sum) << c.name;
  }
}

TEST(Tpe, FindsTheMaximumWhenThatIsTheGoal) {
  Space space =
      space_of("parameters: {x: {uniform: [0, 1]}}\ntrials: 40\nobjective: {goal: max}\n");
  const std::vector<Trial> done =
      study(space, "tpe", 3, [](auto x) { return -std::abs(x[0] - 0.8); });
  EXPECT_NEAR(best_of(space, done)->numbers[0], 0.8, 0.02);
}

TEST(Tpe, KeepsAwayFromWhatFails) {
  const Space space = space_of("parameters: {x: {uniform: [0, 1]}}\ntrials: 60\n");
  std::vector<Trial> done;
  int late_failures = 0;
  for (int64_t id = 0; id < 60; ++id) {
    Trial t;
    t.id = id;
    t.numbers = suggest(space, done, never).numbers;
    t.state = t.numbers[0] > 0.4 ? State::kFailed : State::kComplete;
    if (t.state == State::kComplete) t.value = 1 - t.numbers[0];
    late_failures += id >= 20 && t.state == State::kFailed;
    done.push_back(t);
  }
  EXPECT_LT(late_failures, 20);  // of 40; at random 24
  EXPECT_GT(best_of(space, done)->numbers[0], 0.38);
}

TEST(Samplers, FollowFromSeedIdAndResultsAlone) {
  const Space space = space_of(
      "parameters: {x: {uniform: [0, 1]}, c: [a, b, c], n: {log_integer: [1, 99]}}\ntrials: 40\n");
  for (const char* method : {"random", "tpe"}) {
    Space s = space;
    s.method = method;
    const auto once = study(s, method, 5, [](auto x) { return x[0] + x[1]; });
    for (size_t id = 0; id < once.size(); ++id)
      EXPECT_EQ(suggest(
                    [&] {
                      Space t = s;
                      t.seed = 5;
                      return t;
                    }(),
                    std::span(once).first(id), never)
                    .numbers,
                once[id].numbers);
    std::set<std::vector<double>> different;
    for (const Trial& t : once) different.insert(t.numbers);
    EXPECT_EQ(different.size(), once.size());
    EXPECT_NE(once[0].numbers, study(s, method, 6, [](auto) { return 0.0; })[0].numbers);
  }
}

TEST(Grid, IsEveryCombinationOnce) {
  const Space space = space_of(
      "parameters: {a: [x, y], b: {integer: [1, 5], step: 2}, c: {uniform: [0, 0.2], step: 0.1}}\n"
      "method: grid\n");
  EXPECT_EQ(space.trials, 18);
  const std::vector<Trial> done = study(space, "grid", 0, [](auto) { return 0.0; });
  EXPECT_THAT(done[0].numbers, testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(done[1].numbers, testing::ElementsAre(0, 1, 0.1));
  EXPECT_THAT(done[17].numbers, testing::ElementsAre(1, 5, 0.2));
  std::set<std::vector<double>> different;
  for (const Trial& t : done) different.insert(t.numbers);
  EXPECT_EQ(different.size(), 18u);
}

TEST(Samplers, DrawAgainWhatTheRecipeRefuses) {
  const Space space = space_of("parameters: {x: {integer: [0, 9]}}\nmethod: random\n");
  const Refusal odd = [](std::span<const double> x) {
    return std::fmod(x[0], 2) == 1 ? "x is odd" : "";
  };
  std::vector<Trial> done;
  for (int i = 0; i < 30; ++i) {
    const Suggestion s = suggest(space, done, odd);
    EXPECT_EQ(s.refused, "");
    done.push_back({.id = i, .numbers = s.numbers});
  }
  EXPECT_EQ(suggest(space, done, [](auto) { return "never"; }).refused, "never");
}

// The densities that TPE compares must be densities: they sum to 1.
TEST(Parzen, SumsToOne) {
  const char* const texts[] = {
      "{uniform: [-1, 3]}",     "{log_uniform: [1e-4, 10]}",     "{integer: [0, 7]}",
      "{log_integer: [2, 40]}", "{uniform: [0, 1], step: 0.25}", "[a, b, c, d]"};
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const Parameter p =
        space_of(std::string("parameters: {x: ") + text + "}").parameters.list.at(0);
    for (const size_t n : {0u, 1u, 2u, 30u, 60u}) {
      Random random(n);
      std::vector<double> observed;
      for (size_t i = 0; i < n; ++i) observed.push_back(p.draw(random));
      const Parzen parzen(p, observed);
      constexpr int kCells = 20000;
      const double width = (p.axis_high() - p.axis_low()) / kCells;
      double sum = 0;
      for (int64_t i = 0; i < p.count(); ++i) sum += std::exp(parzen.log_likelihood(p.at(i)));
      for (int i = 0; i < kCells && p.count() == 0; ++i)
        sum +=
            width * std::exp(parzen.log_likelihood(p.from_axis(p.axis_low() + (i + 0.5) * width)));
      EXPECT_NEAR(sum, 1, 1e-6) << n;
    }
  }
}

}  // namespace
}  // namespace hone::search
