// A read-only view of a whole file. The mapping lives as long as the object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace hone {

class Mmap {
 public:
  // Throws FileError when the file cannot be opened or is not a regular file.
  explicit Mmap(const std::filesystem::path& path);
  ~Mmap();
  Mmap(const Mmap&) = delete;
  Mmap& operator=(const Mmap&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hone
