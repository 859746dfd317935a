#include "ckpt/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace hone::ckpt {
namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // write(2) stops a little below 2^31

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// A new name beside `path`, hidden from patterns like *.safetensors.
std::string temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter = 0;
  return folder_of(path) /
         fmt::format(".{}.tmp-{}-{}", path.filename().string(), getpid(), counter++);
}

std::string_view advice(int error) {
  if (error == ENOSPC || error == EDQUOT) return "; free some space and try again";
  if (error == EIO) return "; the disk may be failing";
  if (error == ENOENT) return "; does the folder exist?";
  return "";
}

int flush(int fd) {
  int result = 0;
  do result = fsync(fd);
  while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
    throw FileError("{} is no plain file: it would be replaced; give another name", path.string());
  do {  // a name may be taken by what a killed run left behind
    temporary_ = temporary_name(path);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && (errno == EEXIST || errno == EINTR));
  if (fd_ < 0) fail("cannot create");
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void AtomicFile::commit() {
  if (flush(fd_) != 0) fail("cannot write");
  if (close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail("cannot write");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot replace");
  temporary_.clear();
  flush_folder(folder_of(path_));
}

void AtomicFile::fail(std::string_view step) const {
  const int error = errno;
  throw FileError("{} {}: {}{}", step, path_.string(), std::strerror(error), advice(error));
}

void flush_folder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = fd >= 0 && (flush(fd) == 0 || errno == EINVAL);  // EINVAL: it has no need
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!flushed)
    throw FileError("cannot flush the folder {}: {}{}", folder.string(), std::strerror(error),
                    advice(error));
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace hone::ckpt
