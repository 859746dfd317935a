// A study of real, tiny trainings: cut by SIGKILL it ends as one that was not.
#include "tune/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/json.h"
#include "ckpt/peft.h"
#include "search/results.h"
#include "tune/study_files.h"

namespace hone::tune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpace =
    "parameters: {optim.lr: {log_uniform: [1e-4, 1]}, adapter.rank: [2, 4]}\n"
    "method: asha\nsampler: random\ntrials: 6\nsteps: 6\nrungs: {first: 2, factor: 2}\n";

// Sequences that count upwards: something that can be learned.
data::SampleSet counting(const train::Recipe& r) {
  std::vector<data::Sample> samples;
  for (int32_t i = 0; i < 12; ++i) {
    data::Sample s;
    for (int32_t t = 0; t < 10 + i % 5; ++t) {
      s.ids.push_back((i * 7 + t) % 100);
      s.mask.push_back(t > 2);
    }
    samples.push_back(s);
  }
  return {samples, {.batch = r.batch.micro, .seq_len = r.data.seq_len}, "training set"};
}

RecipeSpace space_in(const fs::path& folder) {
  train::Recipe r;
  r.model = "tests/golden/llama_tiny";
  r.adapter.rank = 4;
  r.batch = {.sequences = 4, .micro = 2};
  r.data.seq_len = 16;
  r.data.train = {{.path = "none.jsonl"}};
  r.data.eval = {{.path = "none.jsonl"}};
  r.save.dir = folder.string();
  search::Space space;
  read_fields(parse_yaml(kSpace, "space.yaml"), space);
  search::check_space(space, "space.yaml");
  return {train::changed(r, {}), space, "space.yaml"};
}

struct Counts {
  int steps = 0, opened = 0, loaded = 0;
};

// In a process of its own, which ends at step `deadly` of all; the parent must hold no engine
// when it forks.
void run_study(const RecipeSpace& space, int deadly, Counts& counts) {
  search::Store store(space.recipe().save.dir, space.space(), "recipe");
  Trials trials(space, {.open =
                            [&](const train::Recipe& r) {
                              ++counts.opened;
                              return engine::Model::open(r.model, train::tuning_of(r.adapter),
                                                         static_cast<uint64_t>(r.seed));
                            },
                        .load =
                            [&](const train::Recipe& r) {
                              ++counts.loaded;
                              return train::TrainingData{counting(r), counting(r)};
                            },
                        .on_step =
                            [&](const train::Progress&) {
                              if (++counts.steps == deadly) raise(SIGKILL);
                            },
                        .say = [](const std::string&) {},
                        .interrupted = [] { return false; }});
  search::run_study(
      space.space(), store,
      {.run = [&](const search::Trial& t,
                  const search::Report& report) { return trials.run(t, report); },
       .refusal = [&](std::span<const double> numbers) { return space.refusal(numbers); },
       .on_start = [](const search::Trial&) {},
       .on_end = [&](const search::Trial&) { write_study_files(space, store.done()); },
       .stop = [] { return false; }});
}

int status_of_child(const RecipeSpace& space, int deadly) {
  const pid_t child = fork();
  if (child == 0) {
    Counts counts;
    try {
      run_study(space, deadly, counts);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(1);
    }
    _exit(counts.opened == 1 && counts.loaded == 1 ? 0 : 2);  // once for all trials
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::string outcome_of(const RecipeSpace& space) {
  const search::Store store(space.recipe().save.dir, space.space(), "recipe");
  std::string out;
  for (const size_t i : search::ranking(space.space(), store.done())) {
    const search::Trial& t = store.done()[i];
    out += fmt::format("{} {} {} {}", t.id, search::name_of(t.state), t.value.value_or(0), t.steps);
    for (const search::Measurement& m : t.measurements)
      out += fmt::format(" {}:{}", m.step, m.value);
    out += fmt::format(" {}\n", t.metrics.contains("train_loss") ? t.metrics.at("train_loss") : 0);
  }
  return out;
}

TEST(Trials, AKilledStudyOfRealTrainingsEndsWithTheSameRanking) {
  const fs::path place = fmt::format("{}hone_tune_{}", testing::TempDir(), getpid());
  const RecipeSpace whole = space_in(place / "whole"), cut = space_in(place / "cut");
  ASSERT_EQ(status_of_child(whole, 0), 0);
  int kills = 0;
  for (const int deadly : {5, 3, 9}) {
    const int status = status_of_child(cut, deadly);
    kills += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  EXPECT_EQ(kills, 3);
  ASSERT_EQ(status_of_child(cut, 0), 0);
  const std::string outcome = outcome_of(whole);
  EXPECT_EQ(outcome_of(cut), outcome);
  std::printf("%s", outcome.c_str());
  EXPECT_THAT(outcome, testing::HasSubstr("complete"));
  EXPECT_THAT(outcome, testing::HasSubstr("stopped"));

  // What lies in the folder.
  const nlohmann::json json = read_json(place / "cut" / "study.json");
  EXPECT_EQ(json["trials"].size(), 6u);
  const int64_t best = json["best"];
  size_t adapters = 0;
  for (int64_t id = 0; id < 6; ++id) adapters += fs::exists(trial_folder(cut, id) / "adapter");
  EXPECT_EQ(adapters, 1u);
  EXPECT_FALSE(ckpt::read_peft(trial_folder(cut, best) / "adapter").tensors.empty());
  const train::Recipe recipe = train::load_recipe((place / "cut" / "best.yaml").string(), {});
  EXPECT_EQ(recipe.optim.lr, json["trials"][static_cast<size_t>(best)]["parameters"]["optim.lr"]);
  EXPECT_TRUE(fs::exists(place / "cut" / "study.html"));
  fs::remove_all(place);
}

}  // namespace
}  // namespace hone::tune
