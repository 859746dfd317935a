// Writes a file that is either whole and on the disk, or not there.
//
// The bytes go to a temporary file in the same folder, which commit() flushes and renames over the
// path before it flushes the folder. Until then a file that was there before stays as it was, also
// for who has it mapped. What is there and no plain file, a device or a folder, is left alone. Any
// failure is a FileError and leaves nothing behind (but when only the folder's flush fails, the new
// file is already there).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hone::ckpt {

class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  // removes the temporary file unless commit() returned
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  [[noreturn]] void fail(std::string_view step) const;  // reads errno

  std::filesystem::path path_;
  std::string temporary_;
  int fd_ = -1;
};

// Flushes a folder's list of names. Throws FileError.
void flush_folder(const std::filesystem::path& folder);

// The whole file in one call.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace hone::ckpt
