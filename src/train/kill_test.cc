// kill -9 at random moments of a run that saves every step: what is visible afterwards is whole,
// no more is lost than the step in flight and the one after it, and the run that goes on ends as
// the one that was never killed.
//
// HONE_KILLS says how often (100; 1,000 before a release).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/random.h"
#include "ckpt/expect_error.h"
#include "train/test_run.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::counting;
using test::quiet;
using test::tiny_recipe;

constexpr int64_t kSteps = 30;

Recipe recipe_in(const std::string& folder) {
  Recipe r = tiny_recipe("unused");
  r.save = {.dir = folder, .every = 1, .keep = 2};
  r.length.steps = kSteps;
  r.adapter.dropout = 0.1;
  r.resume = "auto";
  return r;
}

void train(const std::string& folder) {
  const Recipe r = recipe_in(folder);
  engine::Model model = test::open(r);
  Trainer trainer(model, r, counting(2), std::nullopt);
  std::ofstream steps(folder + ".steps", std::ios::app);
  Callbacks c = quiet();
  c.on_step = [&](const Progress& p) { steps << p.step << std::endl; };
  trainer.run(c);
}

// The victim, in a process of its own: it is told when to die, and dies as by kill -9 from outside.
TEST(Kill, DISABLED_Victim) {
  const char* folder = std::getenv("HONE_KILL_FOLDER");
  const char* after = std::getenv("HONE_KILL_AFTER");
  ASSERT_TRUE(folder != nullptr && after != nullptr) << "Kill.AtRandomMoments starts this";
  const std::chrono::microseconds delay(std::atoll(after));
  if (delay.count() > 0)
    std::thread([delay] {
      std::this_thread::sleep_for(delay);
      kill(getpid(), SIGKILL);
    }).detach();
  train(folder);
}

// True when the victim ended by itself, before its time.
bool run_victim(const std::string& folder, int64_t microseconds) {
  const pid_t pid = fork();
  if (pid == 0) {
    setenv("HONE_KILL_FOLDER", folder.c_str(), 1);
    setenv("HONE_KILL_AFTER", std::to_string(microseconds).c_str(), 1);
    execl("/proc/self/exe", "victim", "--gtest_filter=Kill.DISABLED_Victim",
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
    _exit(99);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) {
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    return false;
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

std::vector<int64_t> steps_in(const std::string& file) {
  std::ifstream in(file);
  std::vector<int64_t> steps;
  for (int64_t step = 0; in >> step;) steps.push_back(step);
  return steps;
}

// Was it killed in a save?
bool half_saved(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(".tmp-")) return true;
  return false;
}

// What a killed run left: its newest step. All that is visible is whole.
int64_t check_folder(const std::string& folder) {
  const std::vector<int64_t> steps = RunFolder(recipe_in(folder)).checkpoints();
  for (const int64_t step : steps)
    EXPECT_EQ(read_state(fmt::format("{}/checkpoint-{}", folder, step)).step, step);
  return steps.empty() ? 0 : steps.front();
}

std::string result_of(const std::string& folder) {
  return bytes_of(folder + "/adapter/adapter_model.safetensors") +
         bytes_of(fmt::format("{}/checkpoint-{}/state.safetensors", folder, kSteps));
}

void remove_run(const std::string& folder) {
  fs::remove_all(folder);
  fs::remove(folder + ".steps");
}

TEST(Kill, AtRandomMoments) {
  const char* asked = std::getenv("HONE_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 100;
  const std::string unbroken = test::run_folder("unbroken"), folder = test::run_folder("killed");
  fs::create_directories(unbroken);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_victim(unbroken, 0));
  const std::chrono::duration<double, std::micro> whole = std::chrono::steady_clock::now() - start;
  const std::string expected = result_of(unbroken);
  ASSERT_GT(expected.size(), 1000U);

  Random random(1);
  int killed = 0, while_training = 0, while_saving = 0, runs = 0;
  int64_t lost = 0;
  while (killed < kills) {
    remove_run(folder);
    fs::create_directories(folder);
    int64_t newest = 0;
    // Anywhere in what a whole run takes: at the start, in a step, in a save, at the end.
    while (!run_victim(folder, 1 + random.below(static_cast<int64_t>(whole.count())))) {
      ++killed;
      while_saving += half_saved(folder) ? 1 : 0;
      const std::vector<int64_t> steps = steps_in(folder + ".steps");
      fs::remove(folder + ".steps");
      const int64_t before = std::exchange(newest, check_folder(folder));
      ASSERT_GE(newest, before) << "a step that was saved is gone";
      if (steps.empty()) continue;
      ++while_training;
      EXPECT_EQ(steps.front(), before + 1) << "the run did not go on from the newest checkpoint";
      EXPECT_LE(steps.back() - newest, 2) << "more is lost than the steps since the last save";
      lost = std::max(lost, steps.back() - newest);
    }
    ++runs;
    ASSERT_TRUE(result_of(folder) == expected) << "after " << killed << " kills";
  }
  std::printf(
      "%d kills in %d runs: %d after the first step, %d in a save; at most %lld steps lost\n",
      killed, runs, while_training, while_saving, static_cast<long long>(lost));
  EXPECT_GE(killed, kills);
  // How many fell into a save is the machine's; save_faults_test stops one at each of its calls.
  EXPECT_GT(while_training, 0);
  remove_run(folder);
  remove_run(unbroken);
}

}  // namespace
}  // namespace hone::train
