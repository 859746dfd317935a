// For tests only: the system calls of a save, each of which may be told to fail once. Include it in
// one file of a test program: its functions take the place of the C library's in all of it.
//
//   const Armed armed({"write", 2, EIO, "checkpoint-"});   // the third write to such a path
//   save();
//   EXPECT_TRUE(armed.struck());
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace hone::ckpt::test {

struct Fault {
  std::string_view call;       // a name of kFaultyCalls
  int nth = 0;                 // counted from 0
  int error = 0;               // errno; 0: write only one byte
  std::string_view path = "";  // a part of the paths it is about
};

inline constexpr std::array<std::string_view, 6> kFaultyCalls = {"mkdir", "open",  "write",
                                                                 "fsync", "close", "rename"};

inline Fault fault;
// Calls until it strikes, or one of these.
inline constexpr int kStruck = -1, kDisarmed = -2;
inline std::atomic<int> calls_left = kDisarmed;

class Armed {
 public:
  explicit Armed(const Fault& f) {
    fault = f;
    calls_left = f.nth;
  }
  ~Armed() {
    if (!struck()) calls_left = kDisarmed;
  }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
  bool struck() const { return calls_left == kStruck; }
};

inline bool strikes(std::string_view call, std::string_view path) {
  if (calls_left < 0 || fault.call != call || !path.contains(fault.path)) return false;
  return calls_left-- == 0;
}

// True, with errno set, when the call is to fail.
inline bool fails(std::string_view call, std::string_view path) {
  if (!strikes(call, path)) return false;
  errno = fault.error;
  return true;
}

inline std::string_view path_of(int fd, std::array<char, 4096>& memory) {
  if (calls_left < 0) return "";
  std::array<char, 64> link;
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link.data(), memory.data(), memory.size());
  return {memory.data(), n < 0 ? 0 : static_cast<size_t>(n)};
}

}  // namespace hone::ckpt::test

extern "C" {
inline constexpr int kHere = AT_FDCWD;

int mkdir(const char* path, mode_t mode) noexcept {
  if (hone::ckpt::test::fails("mkdir", path)) return -1;
  return static_cast<int>(syscall(SYS_mkdirat, kHere, path, mode));
}
int open(const char* path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  const auto mode =
      static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, int) : 0);
  va_end(args);
  if (hone::ckpt::test::fails("open", path)) return -1;
  return static_cast<int>(syscall(SYS_openat, kHere, path, flags, mode));
}
ssize_t write(int fd, const void* bytes, size_t n) {
  std::array<char, 4096> memory;
  const bool strikes = hone::ckpt::test::strikes("write", hone::ckpt::test::path_of(fd, memory));
  errno = hone::ckpt::test::fault.error;
  if (strikes && errno != 0) return -1;
  return syscall(SYS_write, fd, bytes, strikes && n > 1 ? 1 : n);
}
int fsync(int fd) {
  std::array<char, 4096> memory;
  if (hone::ckpt::test::fails("fsync", hone::ckpt::test::path_of(fd, memory))) return -1;
  return static_cast<int>(syscall(SYS_fsync, fd));
}
int close(int fd) {
  std::array<char, 4096> memory;
  const bool fails = hone::ckpt::test::fails("close", hone::ckpt::test::path_of(fd, memory));
  const long result = syscall(SYS_close, fd);
  if (!fails) return static_cast<int>(result);
  errno = hone::ckpt::test::fault.error;
  return -1;
}
int rename(const char* from, const char* to) noexcept {
  if (hone::ckpt::test::fails("rename", from)) return -1;
  return static_cast<int>(syscall(SYS_renameat2, kHere, from, kHere, to, 0));
}
}
