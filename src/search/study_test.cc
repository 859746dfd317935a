// A study that is killed again and again ends as one that never was.
#include "search/study.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <thread>

#include "search/halving.h"

namespace hone::search {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kParameters =
    "parameters: {lr: {log_uniform: [1e-5, 1e-1]}, rank: {integer: [1, 4]}, kind: [a, b]}\n";

Space space_of(const std::string& text) {
  Space space;
  read_fields(parse_yaml(text, "space.yaml"), space);
  check_space(space, "space.yaml");
  return space;
}

// This process's own, in memory where that is to be had: a study flushes after every step, and
// there are many.
fs::path root() {
  const fs::path place = fs::exists("/dev/shm") ? "/dev/shm" : testing::TempDir();
  return place / fmt::format("hone_study_{}", getpid());
}

fs::path folder_of(const std::string& name) {
  fs::remove_all(root() / name);
  return root() / name;
}

class RemoveFolders : public testing::Environment {
  void TearDown() override { fs::remove_all(root()); }
};
[[maybe_unused]] const auto* const kRemove = testing::AddGlobalTestEnvironment(new RemoveFolders);

// Something like a loss that falls with the steps; rank 3 fails, and the outcome says more.
Outcome fake(const Space& space, const Trial& trial, const Report& report) {
  const double rate = std::log10(trial.numbers[0]) + 3;
  if (trial.numbers[1] == 3) throw Error("step 7: the loss is nan");
  const int64_t steps = space.steps.value_or(40);
  const auto loss = [&](int64_t step) {
    return rate * rate + trial.numbers[2] + 10.0 / static_cast<double>(step);
  };
  for (int64_t step = 10; step < steps; step += 10)
    if (!report({step, loss(step)})) return {.value = std::nullopt, .steps = step};
  return {.value = loss(steps), .steps = steps, .metrics = {{"tokens", 5 * rate}, {"bad", NAN}}};
}

Work work_of(const Space& space) {
  return {.run = [&](const Trial& t, const Report& r) { return fake(space, t, r); },
          .refusal = [](auto) { return ""; },
          .on_start = [](const Trial&) {},
          .on_end = [](const Trial&) {},
          .stop = [] { return false; }};
}

std::vector<Trial> run_whole(const fs::path& folder, const Space& space) {
  Store store(folder, space, "recipe");
  EXPECT_TRUE(run_study(space, store, work_of(space)));
  return store.done();
}

// All that must not depend on when a trial ran.
std::string outcome_text(const Space& space, const std::vector<Trial>& trials) {
  std::string out;
  for (const size_t i : ranking(space, trials)) {
    const Trial& t = trials[i];
    out += fmt::format("{} {} [{}] {} {} {}\n", t.id, name_of(t.state), fmt::join(t.numbers, ", "),
                       t.value.value_or(NAN), t.steps, t.note);
    for (const Measurement& m : t.measurements) out += fmt::format("  {} {}\n", m.step, m.value);
    for (const auto& [name, value] : t.metrics) out += fmt::format("  {} {}\n", name, value);
  }
  return out;
}

// Runs the study in a child that dies after a random time. True when it came to its end.
bool run_and_kill(const fs::path& folder, const Space& space, double seconds) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      Store store(folder, space, "recipe");
      _exit(run_study(space, store, work_of(space)) ? 0 : 1);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(2);
    }
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFEXITED(status);
}

TEST(Study, KilledAtRandomMomentsItEndsWithTheSameRanking) {
  const char* const methods[] = {
      "method: tpe\ntrials: 24\n", "method: random\ntrials: 24\n",
      "parameters: {lr: [1e-4, 1e-3, 1e-2], rank: {integer: [1, 4]}, kind: [a, b]}\nmethod: grid\n",
      "method: asha\nsteps: 90\nrungs: {first: 10}\ntrials: 24\n",
      "method: asha\nsampler: random\nsteps: 40\nrungs: {first: 10, factor: 2}\ntrials: 24\n"};
  Random random(11);
  int kills = 0;
  for (const std::string method : methods) {
    SCOPED_TRACE(method);
    const Space space = space_of(method.starts_with("parameters") ? method : kParameters + method);
    const fs::path whole = folder_of("whole"), cut = folder_of("cut");
    const auto start = std::chrono::steady_clock::now();
    const std::string expected = outcome_text(space, run_whole(whole, space));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    int here = 0;
    while (!run_and_kill(cut, space, random.uniform(0, 0.2) * seconds.count())) ++here;
    EXPECT_GE(here, 1);
    kills += here;
    const std::vector<Trial> done = run_whole(cut, space);  // nothing is left to do
    EXPECT_EQ(outcome_text(space, done), expected);
    EXPECT_EQ(static_cast<int64_t>(done.size()), *space.trials);
    fs::remove_all(whole);
    fs::remove_all(cut);
  }
  std::printf("%d kills in %zu studies\n", kills, std::size(methods));
  EXPECT_GE(kills, 20);
}

TEST(Study, MoreTrialsContinueIt) {
  const fs::path folder = folder_of("more");
  Space space = space_of(std::string(kParameters) + "trials: 30\n");
  const std::vector<Trial> at_once = run_whole(folder_of("at_once"), space);
  space.trials = 12;
  EXPECT_EQ(run_whole(folder, space).size(), 12u);
  space.trials = 30;
  EXPECT_EQ(outcome_text(space, run_whole(folder, space)), outcome_text(space, at_once));
}

TEST(Study, StopsAtRungsAndKeepsFailures) {
  const Space space = space_of(std::string(kParameters) +
                               "method: asha\nsteps: 90\nrungs: {first: 10}\ntrials: 40\n");
  const std::vector<Trial> done = run_whole(folder_of("rungs"), space);
  int stopped = 0, complete = 0, failed = 0;
  for (const Trial& t : done) {
    if (t.state == State::kStopped) {
      ++stopped;
      EXPECT_TRUE(t.steps == 10 || t.steps == 30) << t.steps;
      EXPECT_EQ(t.value, t.measurements.back().value);
    } else if (t.state == State::kComplete) {
      ++complete;
      EXPECT_EQ(t.steps, 90);
      EXPECT_EQ(t.metrics.count("bad"), 0u);
    } else {
      ++failed;
      EXPECT_EQ(t.numbers[1], 3);
      EXPECT_EQ(t.note, "step 7: the loss is nan");
    }
  }
  std::printf("%d stopped, %d complete, %d failed\n", stopped, complete, failed);
  EXPECT_GT(stopped, complete);
  EXPECT_GT(complete, 0);
  EXPECT_GT(failed, 0);
}

TEST(Study, AnInterruptedTrialIsRunAgain) {
  const fs::path folder = folder_of("interrupted");
  const Space space = space_of(std::string(kParameters) + "trials: 8\nmethod: random\n");
  Work work = work_of(space);
  work.run = [&](const Trial& t, const Report& r) {
    if (t.id < 5) return fake(space, t, r);
    r({10, 1.0});
    return Outcome{.value = 1, .steps = 10, .interrupted = true};
  };
  {
    Store store(folder, space, "recipe");
    EXPECT_FALSE(run_study(space, store, work));
    EXPECT_EQ(store.done().size(), 5u);
  }
  EXPECT_EQ(outcome_text(space, run_whole(folder, space)),
            outcome_text(space, run_whole(folder_of("whole"), space)));
}

TEST(Study, ValuesThatAreNoNumbersFailTheTrialAndOnlyIt) {
  const Space space = space_of("parameters: {x: [1, 2, 3]}\nmethod: grid\n");
  Work work = work_of(space);
  work.run = [](const Trial& t, const Report& report) {
    if (t.id == 0 && !report({10, NAN})) return Outcome{.value = 1.0, .steps = 10};
    return Outcome{.value = t.id == 1 ? INFINITY : 1.0, .steps = 20};
  };
  Store store(folder_of("nan"), space, "recipe");
  EXPECT_TRUE(run_study(space, store, work));
  EXPECT_EQ(store.done()[0].note, "val_loss is not finite at step 10");
  EXPECT_EQ(store.done()[1].note, "val_loss is not finite at the end");
  EXPECT_EQ(store.done()[2].state, State::kComplete);
}

TEST(Study, AFullDiskEndsItAndLeavesTheTrialForLater) {
  const fs::path folder = folder_of("disk");
  const Space space = space_of(std::string(kParameters) + "trials: 3\nmethod: random\n");
  Work work = work_of(space);
  work.run = [](const Trial&, const Report&) -> Outcome { throw FileError("disk full"); };
  {
    Store store(folder, space, "recipe");
    EXPECT_THROW(run_study(space, store, work), FileError);
  }
  EXPECT_EQ(run_whole(folder, space).size(), 3u);
}

TEST(Store, RefusesAnotherStudyAndWhatIsNone) {
  const Space space = space_of(std::string(kParameters) + "trials: 2\nmethod: random\n");
  const fs::path folder = folder_of("store");
  run_whole(folder, space);
  Space other = space;
  other.seed = 4;
  EXPECT_THAT(
      [&] { Store(folder, other, "recipe"); },
      ThrowsMessage<ConfigError>(HasSubstr("another space (\"seed: 0\" there, \"seed: 4\" now)")));
  EXPECT_THAT([&] { Store(folder, space, "recipe2"); },
              ThrowsMessage<ConfigError>(HasSubstr("another recipe")));
  {
    const Store held(folder, space, "recipe");
    EXPECT_THAT([&] { Store(folder, space, "recipe"); },
                ThrowsMessage<ConfigError>(HasSubstr("another hone tune works in")));
  }
  const fs::path used = folder_of("used");
  fs::create_directories(used);
  std::ofstream(used / "recipe.yaml") << "model: x\n";
  EXPECT_THAT([&] { Store(used, space, "recipe"); },
              ThrowsMessage<ConfigError>(HasSubstr("something other than a study")));
  EXPECT_THAT([&] { Store(used / "recipe.yaml", space, "recipe"); },
              ThrowsMessage<FileError>(HasSubstr("cannot make the study's folder")));
}

// study.db with every 64th byte changed in turn, and cut short: an error of one line or a study
// that still reads, never more.
TEST(Store, DamagedFilesAreRefusedInOneLine) {
  const Space space = space_of(std::string(kParameters) + "trials: 3\nmethod: random\n");
  const fs::path folder = folder_of("damaged"), file = folder / "study.db";
  run_whole(folder, space);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  int refused = 0, cases = 0;
  const auto attempt = [&](const std::string& changed) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << changed;
    ++cases;
    try {
      const Store store(folder, space, "recipe");
      EXPECT_LE(store.done().size(), 3u);
    } catch (const Error& e) {
      EXPECT_FALSE(std::string(e.what()).contains('\n'));
      ++refused;
    }
  };
  for (size_t i = 0; i < bytes.size(); i += 64) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x5a);
    attempt(changed);
    if (i % 1024 == 0) attempt(bytes.substr(0, i + 100));
  }
  attempt("not a database at all, but long enough to be taken for one by its size alone");
  std::printf("%d of %d damaged files refused\n", refused, cases);
  EXPECT_GE(cases, 300);
  EXPECT_GE(refused, 20);
}

}  // namespace
}  // namespace hone::search
