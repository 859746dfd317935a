#include "verilog/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "base/error.h"

namespace hone::verilog {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw FileError("cannot make a pipe: {}", std::strerror(errno));
  }
  ~Pipe() {
    close_write();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& s : strings) all.push_back(s.data());
  all.push_back(nullptr);
  return all;
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/bin:/bin";
}

bool installed(const std::string& program) {
  if (program.contains('/')) return access(program.c_str(), X_OK) == 0;
  std::istringstream folders(search_path());
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

pid_t spawn(std::vector<std::string> argv, const std::filesystem::path& folder, int output) {
  std::vector<std::string> env{fmt::format("PATH={}", search_path())};
  for (const char* name : {"TMPDIR=", "TMP=", "TEMP="}) env.push_back(name + folder.string());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  pid_t child = -1;
  const int failed = posix_spawnp(&child, argv[0].c_str(), &actions, &attributes,
                                  pointers(argv).data(), pointers(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw FileError("cannot run {}: {}", argv[0], std::strerror(failed));
  return child;
}

// prlimit sets the limits and becomes the program. posix_spawn has no place for limits, and set
// from here they would come late: a program needs few milliseconds to fill the memory.
std::vector<std::string> limited(const std::vector<std::string>& argv, const Limits& limits) {
  std::vector<std::string> all{"prlimit", fmt::format("--as={}", limits.memory_bytes),
                               fmt::format("--fsize={}", limits.file_bytes),
                               fmt::format("--cpu={}", static_cast<int64_t>(limits.seconds) + 1),
                               "--core=0"};
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

// Reads until every writer is gone, too much came, or the deadline passed.
void collect(int fd, Clock::time_point deadline, const Limits& limits, Finished& done) {
  std::array<char, 4096> chunk;
  while (!done.flooded) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      done.timed_out = true;
      return;
    }
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 60000))) <= 0) continue;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const size_t room = limits.output_bytes - done.output.size();
    done.flooded = static_cast<size_t>(got) > room;
    done.output.append(chunk.data(), std::min(static_cast<size_t>(got), room));
  }
}

// Waits for the leader without reaping it, so that its group keeps its number until it is killed.
bool ended(pid_t child, Clock::time_point deadline) {
  for (;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
        info.si_pid == child)
      return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Finished run_process(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                     const Limits& limits) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limits.seconds));
  if (!installed(argv[0])) throw FileError("cannot run {}: it is not installed", argv[0]);
  Pipe pipe;
  const pid_t child = spawn(limited(argv, limits), folder, pipe.write_end());
  pipe.close_write();

  Finished done;
  collect(pipe.read_end(), deadline, limits, done);
  if (!done.timed_out && !done.flooded) done.timed_out = !ended(child, deadline);
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) done.status = WEXITSTATUS(status);
  return done;
}

ScratchFolder::ScratchFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "hone-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr)
    throw FileError("cannot make a folder {}: {}", path, std::strerror(errno));
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hone::verilog
