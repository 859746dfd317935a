#include "pjrt/cache_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

namespace hone::pjrt {
namespace {

std::unexpected<std::string> no(std::string_view verb, const std::filesystem::path& path) {
  return std::unexpected(
      fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(errno)));
}

// Like mkdir -p, but private: a parent such as ~/.cache is made 0700 too.
bool make_folders(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    struct stat there{};
    if (stat(made.c_str(), &there) == 0) continue;
    if (mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::optional<std::string> read_all(int fd, size_t size) {
  std::string bytes(size, '\0');
  for (size_t at = 0; at < size;) {
    const ssize_t n = ::read(fd, bytes.data() + at, size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    at += static_cast<size_t>(n);
  }
  return bytes;
}

}  // namespace

std::expected<CacheFolder, std::string> CacheFolder::open(const std::filesystem::path& path) {
  if (!make_folders(path)) return no("make", path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? no("open", path) : adopt(path, fd);
}

std::expected<CacheFolder, std::string> CacheFolder::sub(const std::string& name) const {
  if (mkdirat(fd_, name.c_str(), 0700) != 0 && errno != EEXIST) return no("make", path_ / name);
  const int fd = openat(fd_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd < 0 ? no("open", path_ / name) : adopt(path_ / name, fd);
}

std::expected<CacheFolder, std::string> CacheFolder::adopt(const std::filesystem::path& path,
                                                           int fd) {
  CacheFolder folder(path, fd);
  struct stat st{};
  if (fstat(fd, &st) != 0) return no("read", path);
  if (st.st_uid != geteuid())
    return std::unexpected(fmt::format("{} belongs to another user", path.string()));
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::unexpected(fmt::format("others may write to {}; chmod 700 it", path.string()));
  return folder;
}

CacheFolder::~CacheFolder() {
  if (fd_ >= 0) close(fd_);
}

CacheFolder::CacheFolder(CacheFolder&& from) noexcept
    : path_(std::move(from.path_)), fd_(std::exchange(from.fd_, -1)) {}

std::optional<std::string> CacheFolder::read(const std::string& name) const {
  const int fd = openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  struct stat st{};
  std::optional<std::string> bytes;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
    bytes = read_all(fd, static_cast<size_t>(st.st_size));
  close(fd);
  return bytes;
}

std::string CacheFolder::write(const std::string& name, std::string_view bytes) const {
  std::random_device random;
  const std::string temporary = fmt::format(".{}.{:08x}{:08x}", name, random(), random());
  const int fd = openat(fd_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return no("write to", path_).error();
  bool done = write_all(fd, bytes);
  int failed = errno;
  if (close(fd) != 0 && done) done = false, failed = errno;
  if (done && renameat(fd_, temporary.c_str(), fd_, name.c_str()) != 0)
    done = false, failed = errno;
  if (done) return "";
  unlinkat(fd_, temporary.c_str(), 0);
  errno = failed;
  return no("write to", path_).error();
}

}  // namespace hone::pjrt
