// Writes a folder of files that is either whole and on the disk, or not there.
//
// The files go to a hidden folder beside it, each of them flushed (atomic_file.h). commit() adds a
// list of their digests, renames the folder to its own name and flushes the folder above. Until
// then nobody sees it; a killed process leaves a ".tmp-" folder, which remove_staged() takes away.
//
//   AtomicFolder folder(run / "checkpoint-20");
//   write_atomically(folder.staging() / "state.json", text);
//   folder.commit();
//   ...
//   verify_folder(run / "checkpoint-20");      // every byte is as it was written
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::ckpt {

// In the format of sha256sum(1): `sha256sum -c SHA256SUMS` checks a folder too.
inline constexpr const char* kDigestFile = "SHA256SUMS";

class AtomicFolder {
 public:
  // The folder above must exist. Throws FileError.
  explicit AtomicFolder(const std::filesystem::path& path);
  ~AtomicFolder();  // removes the hidden folder unless commit() returned
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  // Where the files are to be written; subfolders are not for it.
  const std::filesystem::path& staging() const { return staging_; }
  // A folder that was there before under this name is replaced. Throws FileError, and then the
  // folder is not there (the one before may be gone too).
  void commit();

 private:
  std::filesystem::path path_, staging_;
  bool committed_ = false;
};

// The files that the list of digests holds, all of them whole. Throws FileError that names the
// first which is missing or has other bytes than were written. (A list that was cut between two
// lines holds fewer: ask for the files that matter.)
std::vector<std::string> verify_folder(const std::filesystem::path& folder);

// Removes a folder so that it is never seen in part. Throws FileError.
void remove_folder(const std::filesystem::path& folder);

// Removes what killed processes left in `parent`: folders that were being written or removed, and
// whose own names begin with one of `names`. Others' hidden files are left alone.
void remove_staged(const std::filesystem::path& parent, std::span<const std::string_view> names);

}  // namespace hone::ckpt
