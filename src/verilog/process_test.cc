#include "verilog/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace hone::verilog {
namespace {

// "Z" for a process that ended and was not reaped yet, "" for one that is gone.
std::string state_of(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  stat >> number >> name >> state;
  return state;
}

// A killed process takes a moment to end.
bool gone(const std::string& pid) {
  for (int i = 0; i < 5000; ++i) {
    const std::string state = state_of(pid);
    if (state.empty() || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(Process, ReportsStatusAndOutput) {
  const ScratchFolder folder;
  const Finished done = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, folder.path());
  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(done.output, "out\nerr\n");
  EXPECT_FALSE(done.timed_out);
  EXPECT_FALSE(done.flooded);
}

TEST(Process, RunsInItsFolderWithoutInputOrEnvironment) {
  setenv("HONE_SECRET", "x", 1);
  const ScratchFolder folder;
  const Finished done =
      run_process({"sh", "-c", "pwd; echo $TMPDIR; cat; echo \"[$HONE_SECRET]\""}, folder.path());
  const std::string path = std::filesystem::canonical(folder.path()).string();
  EXPECT_EQ(done.output, path + "\n" + folder.path().string() + "\n[]\n");
}

TEST(Process, EndsTheWholeGroupAtTheLimit) {
  const ScratchFolder folder;
  const Finished done =
      run_process({"sh", "-c", "sleep 100 & echo $!; sleep 100"}, folder.path(), {.seconds = 0.3});
  EXPECT_TRUE(done.timed_out);
  EXPECT_EQ(done.status, -1);
  EXPECT_TRUE(gone(done.output.substr(0, done.output.size() - 1)));
}

TEST(Process, EndsWhatTheProgramLeftBehind) {
  const ScratchFolder folder;
  const Finished done = run_process({"sh", "-c", "sleep 100 >/dev/null 2>&1 & echo $!"},
                                    folder.path(), {.seconds = 10});
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.status, 0);
  EXPECT_TRUE(gone(done.output.substr(0, done.output.size() - 1)));
}

TEST(Process, EndsAProgramThatClosesItsOutput) {
  const ScratchFolder folder;
  const Finished done =
      run_process({"sh", "-c", "exec >/dev/null 2>&1; sleep 100"}, folder.path(), {.seconds = 0.3});
  EXPECT_TRUE(done.timed_out);
}

TEST(Process, CutsAFlood) {
  const ScratchFolder folder;
  const Finished done = run_process({"yes"}, folder.path(), {.output_bytes = 10000});
  EXPECT_TRUE(done.flooded);
  EXPECT_EQ(done.output.size(), 10000u);
}

TEST(Process, LimitsFiles) {
  const ScratchFolder folder;
  const Finished done =
      run_process({"sh", "-c", "yes >big"}, folder.path(), {.file_bytes = 100000});
  EXPECT_NE(done.status, 0);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "big"), 100000u);
}

// Before its first instruction, not soon after: else this would pass sometimes.
TEST(Process, LimitsMemoryFromTheStart) {
  const ScratchFolder folder;
  const Finished done = run_process({"sh", "-c", "ulimit -v; ulimit -t; ulimit -c"}, folder.path(),
                                    {.seconds = 7, .memory_bytes = size_t{100} << 20});
  EXPECT_EQ(done.output, "102400\n8\n0\n");
}

TEST(Process, SaysWhatIsNotInstalled) {
  const ScratchFolder folder;
  try {
    run_process({"hone-no-such-program"}, folder.path());
    FAIL();
  } catch (const FileError& e) {
    EXPECT_STREQ(e.what(), "cannot run hone-no-such-program: it is not installed");
  }
}

TEST(ScratchFolder, LeavesNothing) {
  std::filesystem::path path;
  {
    const ScratchFolder folder;
    path = folder.path();
    std::ofstream(path / "file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace hone::verilog
