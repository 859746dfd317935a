#include "base/mmap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace hone {

Mmap::Mmap(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw FileError("cannot open {}: {}", path.string(), std::strerror(errno));
  struct stat st{};
  const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  size_ = regular ? static_cast<size_t>(st.st_size) : 0;
  void* map = size_ > 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  const int failed = errno;
  close(fd);
  if (!regular) throw FileError("{} is not a regular file", path.string());
  if (map == MAP_FAILED) throw FileError("cannot map {}: {}", path.string(), std::strerror(failed));
  data_ = static_cast<const std::byte*>(map);
}

Mmap::~Mmap() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace hone
