// Saves while the disk fails: at every system call of a save, with every error it may have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "ckpt/atomic_folder.h"
#include "ckpt/expect_error.h"
#include "ckpt/faults_for_test.h"
#include "ckpt/test_files.h"
#include "train/saver.h"
#include "train/test_run.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using ckpt::test::Armed;
using ckpt::test::expect_error;
using ckpt::test::Fault;
using ckpt::test::TempFolder;
using test::bytes_of;
using test::counting;
using test::quiet;
using test::tiny_recipe;

Snapshot snapshot_of(int64_t step) {
  Snapshot s;
  s.state.step = step;
  s.state.losses.assign(static_cast<size_t>(step), 0.5);
  pjrt::HostMemory memory = pjrt::allocate_host(64);
  std::ranges::fill(memory.bytes, static_cast<std::byte>(step));
  s.arrays.push_back({"w", {DType::kF32, {16}}, memory});
  s.adapter.emplace();
  s.adapter->tensors.push_back({"layer.lora_A.weight", {4}, std::vector<float>(4, 1)});
  return s;
}

// Whole checkpoints of these steps, and nothing else that anybody sees.
void expect_steps(const RunFolder& folder, const std::vector<int64_t>& steps) {
  EXPECT_EQ(folder.checkpoints(), steps);
  for (const int64_t step : folder.checkpoints())
    EXPECT_EQ(read_state(folder.checkpoint(step)).step, step);
}

// One save under a fault. True when the fault struck.
bool check_fault(const RunFolder& folder, const Fault& fault) {
  write_checkpoint(folder.checkpoint(1), snapshot_of(1));
  bool saved = true;
  try {
    const Armed armed(fault);
    write_checkpoint(folder.checkpoint(2), snapshot_of(2));
  } catch (const FileError& e) {
    saved = false;
    EXPECT_THAT(e.what(), testing::HasSubstr(fault.error == ENOSPC ? "No space left on device"
                                             : fault.error == EIO  ? "Input/output error"
                                                                   : ""));
  }
  const bool struck = ckpt::test::calls_left == ckpt::test::kStruck;
  const bool harmless = fault.error == 0 || fault.error == EINTR;
  if (!struck) {
    EXPECT_TRUE(saved);
  } else if (harmless && (fault.call == "write" || fault.call == "fsync")) {
    EXPECT_TRUE(saved);
  } else if (!harmless && fault.call != "close") {
    EXPECT_FALSE(saved);
  }
  expect_steps(folder, saved ? std::vector<int64_t>{2, 1} : std::vector<int64_t>{1});
  write_checkpoint(folder.checkpoint(2), snapshot_of(2));  // the next chance
  expect_steps(folder, {2, 1});
  fs::remove_all(folder.checkpoint(2));
  return struck;
}

TEST(SaveFaults, EveryCallOfASaveMayFail) {
  const TempFolder temp;
  Recipe recipe;
  recipe.save.dir = temp.path().string();
  const RunFolder folder(recipe);
  size_t cases = 0;
  for (const std::string_view call : ckpt::test::kFaultyCalls)
    for (const int error : {ENOSPC, EIO, EROFS, EINTR, 0}) {
      if (error == 0 && call != "write") continue;
      int nth = 0;
      while (true) {
        SCOPED_TRACE(fmt::format("{} {}: {}", call, nth, error));
        if (!check_fault(folder, {.call = call, .nth = nth, .error = error})) break;
        ++nth;
      }
      EXPECT_GT(nth, 0) << call;
      cases += static_cast<size_t>(nth);
    }
  ckpt::test::report_cases("calls of a save that fail", cases, 200);
}

struct Heard {
  std::vector<std::string> lines;
  Report report;
};

Heard train(const Recipe& r) {
  engine::Model model = test::open(r);
  Trainer trainer(model, r, counting(2), std::nullopt);
  Heard heard;
  Callbacks c = quiet();
  c.say = [&](const std::string& line) { heard.lines.push_back(line); };
  heard.report = trainer.run(c);
  return heard;
}

TEST(SaveFaults, AFailedSaveIsToldAndTriedAgain) {
  Recipe r = tiny_recipe("retried");
  r.save.every = 2;
  r.save.keep = 9;
  const Armed armed({.call = "fsync", .error = EIO, .path = "checkpoint-2"});
  const Heard heard = train(r);
  EXPECT_TRUE(armed.struck());
  ASSERT_EQ(heard.lines.size(), 1U);
  EXPECT_THAT(heard.lines[0],
              testing::AllOf(testing::HasSubstr("the checkpoint of step 2 is not saved"),
                             testing::HasSubstr("Input/output error")));
  EXPECT_FALSE(fs::exists(fs::path(r.save.dir) / "checkpoint-2"));
  EXPECT_EQ(read_state(fs::path(r.save.dir) / "checkpoint-4").step, 4);
  EXPECT_EQ(read_state(fs::path(r.save.dir) / "checkpoint-6").step, 6);
  fs::remove_all(r.save.dir);
}

TEST(SaveFaults, AtTheEndAFailureIsAnErrorAndTheStepsBeforeStay) {
  Recipe r = tiny_recipe("last");
  r.save.every = 2;
  {
    const Armed armed({.call = "write", .error = ENOSPC, .path = "checkpoint-6"});
    expect_error([&] { train(r); }, "the checkpoint of step 6 is not saved: cannot write");
  }
  const fs::path folder = r.save.dir;
  EXPECT_FALSE(fs::exists(folder / "checkpoint-6"));
  EXPECT_EQ(read_state(folder / "checkpoint-4").step, 4);
  EXPECT_TRUE(fs::exists(folder / "adapter" / "adapter_config.json"));  // what was trained is kept
  r.resume = "auto";
  EXPECT_EQ(train(r).report.steps, 6);
  EXPECT_EQ(read_state(folder / "checkpoint-6").step, 6);
  fs::remove_all(folder);
}

TEST(SaveFaults, ABestStepThatCannotBeSavedIsNotGoneBackTo) {
  Recipe r = tiny_recipe("best");
  r.eval.every = 2;
  r.save.best = true;
  const Armed armed({.call = "write", .error = ENOSPC, .path = "checkpoint-6"});  // the last
  engine::Model model = test::open(r);
  Trainer trainer(model, r, counting(2), counting(2));
  expect_error([&] { trainer.run(quiet()); }, "the checkpoint of step 6 is not saved");
  EXPECT_EQ(read_state(fs::path(r.save.dir) / "checkpoint-4").best_step, 4);
  EXPECT_TRUE(fs::exists(fs::path(r.save.dir) / "adapter" / "adapter_config.json"));
  fs::remove_all(r.save.dir);
}

TEST(SaveFaults, RetriesGetRarerWhileTheDiskStaysFull) {
  const TempFolder temp;
  Recipe recipe;
  recipe.save = {.dir = temp.path().string(), .every = 0};
  const RunFolder folder(recipe);
  Saver saver(folder, recipe.save);
  saver.save(snapshot_of(1));
  ASSERT_FALSE(saver.failure(true));
  std::vector<int64_t> tried;
  for (int64_t step = 2; step < 40; ++step) {
    if (!saver.is_due({.step = step}, step == 2)) continue;
    tried.push_back(step);
    const Armed armed({.call = "write", .error = ENOSPC});
    saver.save(snapshot_of(step));
    EXPECT_EQ(saver.failure(true)->step, step);
  }
  EXPECT_THAT(tried, testing::ElementsAre(2, 3, 5, 9, 17, 33));
  saver.save(snapshot_of(40));
  EXPECT_FALSE(saver.failure(true));
  EXPECT_FALSE(saver.is_due({.step = 41}, false));
  expect_steps(folder, {40, 1});
}

}  // namespace
}  // namespace hone::train
