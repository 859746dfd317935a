// The folder of a run: who may write it, and the checkpoints in it.
//
//   RunFolder folder(recipe);                       // held until it goes
//   if (auto from = folder.newest_whole(say)) ...   // resume: auto
//
// A folder is written by one run at a time (flock on its .lock). One with another run's results is
// left alone: see resume and clear_run().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint.h"
#include "train/recipe.h"

namespace hone::train {

// An flock(2) that other processes, and other FolderLocks of this one, wait for in vain.
class FolderLock {
 public:
  // Throws FileError when another holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

class RunFolder {
 public:
  // Makes save.dir, locks it, and removes what killed saves left. Throws ConfigError when it holds
  // the results of a run and this is not to go on with them, FileError when it cannot be written.
  explicit RunFolder(const Recipe& recipe);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint(int64_t step) const;
  std::vector<int64_t> checkpoints() const;  // their steps, newest first

  // The newest checkpoint that is whole, as recipe.resume asks; `say` hears of damaged ones. Throws
  // FileError when there are checkpoints and none is whole.
  std::optional<RunState> newest_whole(const std::function<void(const std::string&)>& say) const;

  // Of the checkpoints up to `newest`, keeps that many, and that of step `best`.
  void prune(int64_t newest, int64_t keep, int64_t best) const;

  // metrics.jsonl as it was after `step`.
  void cut_metrics(int64_t step) const;

 private:
  static std::filesystem::path made(const std::filesystem::path& folder);

  std::filesystem::path path_;
  FolderLock lock_;
  bool resume_;
};

// Removes a run's results, not the folder nor what else is in it. Throws FileError when a run is
// writing it.
void clear_run(const std::filesystem::path& folder);

}  // namespace hone::train
