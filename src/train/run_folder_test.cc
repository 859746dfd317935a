#include "train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ckpt/atomic_folder.h"
#include "ckpt/expect_error.h"
#include "ckpt/test_files.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using ckpt::test::expect_error;
using ckpt::test::read_file;
using ckpt::test::TempFolder;
using ckpt::test::write_file;
using testing::ElementsAre;

Recipe recipe_in(const fs::path& folder, const std::string& resume = "never") {
  Recipe r;
  r.save.dir = folder.string();
  r.resume = resume;
  return r;
}

void save_step(const RunFolder& folder, int64_t step) {
  const std::vector<float> values(4, static_cast<float>(step));
  Snapshot s;
  s.state.step = step;
  pjrt::HostMemory memory = pjrt::allocate_host(16);
  std::ranges::copy(std::as_bytes(std::span(values)), memory.bytes.begin());
  s.arrays.push_back({"w", {DType::kF32, {4}}, memory});
  write_checkpoint(folder.checkpoint(step), s);
}

std::vector<std::string> damage_heard(const RunFolder& folder, std::optional<RunState>& state) {
  std::vector<std::string> lines;
  state = folder.newest_whole([&](const std::string& line) { lines.push_back(line); });
  return lines;
}

TEST(RunFolder, IsHeldByOneRun) {
  const TempFolder temp;
  const fs::path run = temp / "runs/first";
  {
    const RunFolder held(recipe_in(run));
    expect_error<FileError>([&] { RunFolder(recipe_in(run)); },
                            "runs/first is being written by another run; wait for it, or give");
    expect_error<FileError>([&] { clear_run(run); }, "is being written by another run");
  }
  RunFolder(recipe_in(run));
}

TEST(RunFolder, AnotherRunsResultsAreLeftAlone) {
  const TempFolder temp;
  save_step(RunFolder(recipe_in(temp.path())), 3);
  expect_error<ConfigError>([&] { RunFolder(recipe_in(temp.path())); },
                            "holds the results of a run; give another save.dir, go on with that "
                            "run by resume=auto, or remove the folder");
  EXPECT_THAT(RunFolder(recipe_in(temp.path(), "auto")).checkpoints(), ElementsAre(3));
  clear_run(temp.path());
  RunFolder(recipe_in(temp.path()));
  fs::create_directory(temp / "adapter");
  for (const char* resume : {"never", "auto"})
    expect_error<ConfigError>([&] { RunFolder(recipe_in(temp.path(), resume)); },
                              "holds the results of a run");
  clear_run(temp.path());
  clear_run(temp / "absent");
  RunFolder(recipe_in(temp.path(), "auto"));
}

TEST(RunFolder, WhatWasNoRunsResultStays) {
  const TempFolder temp;
  for (const char* name : {"train.jsonl", "checkpoint-notes", "metrics.jsonl", "checkpoint-1x"})
    write_file(temp / name, "x");
  fs::create_directory(temp / ".tmp-checkpoint-4");
  const RunFolder folder(recipe_in(temp.path()));
  EXPECT_THAT(folder.checkpoints(), ElementsAre());
  EXPECT_FALSE(fs::exists(temp / ".tmp-checkpoint-4"));
  EXPECT_TRUE(fs::exists(temp / "train.jsonl"));
  EXPECT_TRUE(fs::exists(temp / "checkpoint-notes"));
}

TEST(RunFolder, TakesTheNewestThatIsWhole) {
  const TempFolder temp;
  {
    const RunFolder folder(recipe_in(temp.path()));
    for (const int64_t step : {2, 9, 10}) save_step(folder, step);
  }
  const RunFolder folder(recipe_in(temp.path(), "auto"));
  std::optional<RunState> state;
  EXPECT_THAT(damage_heard(folder, state), ElementsAre());
  EXPECT_EQ(state->step, 10);

  const fs::path arrays = folder.checkpoint(10) / "state.safetensors";
  std::string bytes = read_file(arrays);
  bytes.back() ^= 1;
  write_file(arrays, bytes);
  EXPECT_THAT(damage_heard(folder, state),
              ElementsAre(testing::AllOf(testing::HasSubstr("checkpoint-10/state.safetensors is "
                                                            "damaged"),
                                         testing::HasSubstr("trying the checkpoint before it"))));
  EXPECT_EQ(state->step, 9);

  fs::remove(folder.checkpoint(9) / "state.json");
  EXPECT_EQ(damage_heard(folder, state).size(), 2U);
  EXPECT_EQ(state->step, 2);

  write_file(folder.checkpoint(2) / ckpt::kDigestFile, "");
  expect_error([&] { damage_heard(folder, state); }, "no checkpoint in");
}

TEST(RunFolder, KeepsTheNewestAndTheBest) {
  struct Row {
    int64_t newest, keep, best;
    std::vector<int64_t> left;
  };
  const Row rows[] = {
      {50, 3, 0, {50, 40, 30}},
      {50, 1, 20, {50, 20}},
      {50, 2, 40, {50, 40}},
      {50, 9, 0, {50, 40, 30, 20, 10}},
      {30, 1, 0, {50, 40, 30}},  // newer ones are damaged: they
                                 // are no reason to remove
                                 // others
      {30, 2, 10, {50, 40, 30, 20, 10}},
  };
  for (const Row& row : rows) {
    const TempFolder temp;
    const RunFolder folder(recipe_in(temp.path()));
    for (const int64_t step : {10, 20, 30, 40, 50}) fs::create_directory(folder.checkpoint(step));
    folder.prune(row.newest, row.keep, row.best);
    EXPECT_EQ(folder.checkpoints(), row.left) << row.newest << " " << row.keep << " " << row.best;
  }
}

TEST(RunFolder, MetricsAreCutBack) {
  const TempFolder temp;
  const RunFolder folder(recipe_in(temp.path()));
  const fs::path file = temp / "metrics.jsonl";
  write_file(file, "{\"step\":1}\n{\"step\":10,\"loss\":2}\n{\"step\":20}\n{\"step\":3");
  folder.cut_metrics(10);
  EXPECT_EQ(read_file(file), "{\"step\":1}\n{\"step\":10,\"loss\":2}\n");
  folder.cut_metrics(0);
  EXPECT_EQ(read_file(file), "");
}

TEST(Checkpoint, StateReadsBackEqual) {
  const TempFolder temp;
  const RunFolder folder(recipe_in(temp.path()));
  Snapshot s;
  s.state = {.step = 7,
             .cursor = {.epoch = 2, .index = 5},
             .guard = {.factor = 0, .mean = 0.1 + 0.2, .seen = 6},
             .losses = {1.0 / 3, 5e-324, 1e300},
             .tokens = int64_t{1} << 60,
             .train_seconds = 0.1,
             .val_loss_before = std::numeric_limits<double>::quiet_NaN(),
             .val_loss = 2.0 / 3,
             .val_step = 7,
             .best_loss = std::nullopt,
             .best_step = 3,
             .worse = 4,
             .recipe = "model: \"x\"\n",
             .data = "abc"};
  write_checkpoint(folder.checkpoint(7), s);
  const RunState r = read_state(folder.checkpoint(7));
  EXPECT_EQ(r.cursor, s.state.cursor);
  EXPECT_EQ(r.losses, s.state.losses);
  EXPECT_TRUE(std::isnan(*r.val_loss_before));
  auto rest = [](const RunState& v) {
    return std::tuple(v.step, v.guard.mean, v.guard.seen, v.tokens, v.train_seconds, v.val_loss,
                      v.val_step, v.best_loss, v.best_step, v.worse, v.recipe, v.data);
  };
  EXPECT_EQ(rest(r), rest(s.state));
}

}  // namespace
}  // namespace hone::train
