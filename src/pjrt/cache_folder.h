// A folder whose contents we trust: made 0700, ours, and not writable by anyone else.
//
// Everything is done relative to one open descriptor, so that what was checked is what is used.
// Failures are reasons to go without, not errors.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hone::pjrt {

class CacheFolder {
 public:
  // Makes the folder and its parents where missing; else says why it cannot be used.
  static std::expected<CacheFolder, std::string> open(const std::filesystem::path& path);
  ~CacheFolder();
  CacheFolder(CacheFolder&& from) noexcept;
  CacheFolder& operator=(CacheFolder&&) = delete;

  // The folder `name` in it, under the same rules.
  std::expected<CacheFolder, std::string> sub(const std::string& name) const;

  // The whole file, or nothing when it cannot be read.
  std::optional<std::string> read(const std::string& name) const;
  // Replaces the file whole or not at all; gives the reason when not, else "".
  std::string write(const std::string& name, std::string_view bytes) const;

 private:
  CacheFolder(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  static std::expected<CacheFolder, std::string> adopt(const std::filesystem::path& path, int fd);

  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace hone::pjrt
