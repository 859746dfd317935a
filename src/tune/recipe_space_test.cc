// A space against a real recipe: what shows before anything runs.
#include "tune/recipe_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tune/study_files.h"
#include "tune/trials.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

RecipeSpace space_of(const std::string& text, std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.begin(), {"data.eval=held_out.jsonl", "save.dir=runs/study",
                                       "batch.sequences=4", "batch.micro=4", "length.steps=120"});
  search::Space space;
  read_fields(parse_yaml(text, "space.yaml"), space);
  search::check_space(space, "space.yaml");
  return {train::load_recipe("smollm2_135m_lora_cpu", overrides), space, "space.yaml"};
}

TEST(RecipeSpace, MistakesAreOneClearLineBeforeAnythingRuns) {
  struct Case {
    const char* text;
    const char* message;
    std::vector<std::string> overrides = {};
  };
  const Case cases[] = {
      {"parameters: {optim.lrr: [1]}", "did you mean \"lr\"?"},
      {"parameters: {optimm.lr: [1]}", "did you mean \"optim\"?"},
      {"parameters: {adapter.rank: [8, x]}", "adapter.rank: expected an integer, found \"x\""},
      {"parameters: {adapter.rank: [8, \"8\"]}", "adapter.rank: expected an integer"},
      {"parameters: {adapter.rank: {integer: [0, 8]}}", "must be 1 to 4096, found 0"},
      {"parameters: {adapter.rank: {integer: [8, 10000]}}", "must be 1 to 4096, found 10000"},
      {"parameters: {adapter.rank: {uniform: [4, 8]}}", "adapter.rank: expected an integer"},
      {"parameters: {optim.lr: {log_uniform: [1e-5, 100]}}", "must be 0 to 10, found 100"},
      {"parameters: {optim.kind: [adamw, adamv]}", "did you mean \"adamw\"?"},
      {"parameters: {adapter: [8]}", "adapter: expected a map"},
      {"parameters: {optim: [{lr: 1e-3}, {lr: -1}]}", "must be 0 to 10"},
      {"parameters: {batch.micro: [3]}", "batch.sequences 4 is not a multiple of batch.micro 3"},
      {"parameters: {save.dir: [a, b]}", "save.dir is the study's own"},
      {"parameters: {eval.every: [1, 2]}", "eval.every is the study's own"},
      {"parameters: {resume: [auto]}", "resume is the study's own"},
      {"parameters: {length.steps: [10, 20]}\nsteps: 30\n", "contradict each other"},
      {"parameters: {optim.lr: [1]}\nobjective: {metric: accuracy}\n",
       "\"accuracy\" is not reported"},
      {"parameters: {optim.lr: [1]}", "needs validation data", {"data.eval=[]"}},
      {"parameters: {optim.lr: [1]}\nmethod: asha\n", "asha counts in steps", {"length.epochs=1"}},
      {"parameters: {optim.lr: [1]}\nmethod: asha\nrungs: {first: 120}\n", "is not below the 120"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_THAT(
        [&] { space_of(c.text, c.overrides); },
        ThrowsMessage<ConfigError>(testing::AllOf(HasSubstr("space.yaml: "), HasSubstr(c.message),
                                                  testing::Not(HasSubstr("\n")))));
  }
  std::printf("%zu spaces refused\n", std::size(cases));
  EXPECT_GE(std::size(cases), 20u);
}

TEST(RecipeSpace, ValuesReachTheRecipe) {
  const RecipeSpace s = space_of(
      "parameters:\n  optim.lr: {log_uniform: [1e-5, 1e-1]}\n  adapter.targets: [all-linear, "
      "[q_proj, "
      "v_proj]]\n  optim.betas: [[0.9, 0.99], [0.8, 0.9]]\n  seed: {integer: [0, 9]}\n");
  const train::Recipe r = s.with(std::vector<double>{0.0123456789, 1, 1, 7});
  EXPECT_EQ(r.optim.lr, 0.0123456789);
  EXPECT_THAT(r.adapter.targets, testing::ElementsAre("q_proj", "v_proj"));
  EXPECT_THAT(r.optim.betas, testing::ElementsAre(0.8, 0.9));
  EXPECT_EQ(r.seed, 7);
  EXPECT_EQ(s.recipe().seed, 0);
}

TEST(RecipeSpace, ValuesThatOnlyFitTogetherAreTaken) {
  const RecipeSpace s = space_of("parameters: {batch.micro: [1, 8], batch.sequences: [4, 8]}");
  EXPECT_EQ(s.refusal(std::vector<double>{1, 1}), "");
  EXPECT_THAT(s.refusal(std::vector<double>{1, 0}), HasSubstr("is not a multiple"));
}

TEST(RecipeSpace, TheSpacesOfRecipesFitARecipe) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("recipes/tune")) {
    SCOPED_TRACE(entry.path());
    const RecipeSpace s(
        train::load_recipe("smollm2_135m_lora_cpu", std::vector<std::string>{"data.eval=x.jsonl"}),
        search::load_space(entry.path()), entry.path().string());
    EXPECT_GE(*s.space().trials, 10);
    ++count;
  }
  std::printf("%d spaces load\n", count);
  EXPECT_GE(count, 1);
}

TEST(RecipeSpace, AshaTakesItsStepsFromTheRecipe) {
  const RecipeSpace s = space_of("parameters: {optim.lr: [1e-3, 1e-4]}\nmethod: asha\n");
  EXPECT_EQ(s.space().steps, 120);
  EXPECT_EQ(s.space().rungs.first, 13);
  EXPECT_EQ(space_of("parameters: {optim.lr: [1e-3]}\nsteps: 50\n").recipe().length.steps, 50);
}

TEST(RecipeSpace, TheBestRecipeIsTheUsersWithItsValues) {
  const RecipeSpace s = space_of("parameters: {optim.lr: [0.1, 0.2]}", {"eval.every=7"});
  EXPECT_EQ(best_recipe(s, {}), std::nullopt);
  const std::vector<search::Trial> trials = {
      {.id = 0, .state = search::State::kComplete, .numbers = {0}, .value = 3},
      {.id = 1, .state = search::State::kComplete, .numbers = {1}, .value = 2}};
  const train::Recipe best = *best_recipe(s, trials);
  EXPECT_EQ(best.optim.lr, 0.2);
  EXPECT_EQ(best.eval.every, 7);
  EXPECT_EQ(best.save.dir, "runs/study/best");
  EXPECT_EQ(trial_recipe(s, trials[1]).save.dir, "runs/study/trial-0001");
  EXPECT_EQ(trial_recipe(s, trials[1]).eval.every, 0);
}

}  // namespace
}  // namespace hone::tune
