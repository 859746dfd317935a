// A study's trials on the disk: FOLDER/study.db, one SQLite file.
//
//   study         what it is a study of: the space and the recipe, as texts
//   trial         id, state, value, steps, started, seconds, note
//   parameter     trial, name, number, text
//   measurement   trial, step, value: the objective while the trial ran
//   metric        trial, name, value: the other numbers at its end
//
// Each call is one transaction, on the disk when it returns. A trial that was running when the
// program ended is forgotten when the store is opened again. Other programs may read the file at
// any time; a second `hone tune` in the folder is refused for as long as the store is open.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "search/sqlite.h"
#include "search/trial.h"

namespace hone::search {

// Held from the constructor on, and let go when the process ends, however it does.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);  // makes it when it is not there
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

class Store {
 public:
  // Throws ConfigError when the folder holds another study or something else, FileError when it
  // cannot be used or study.db is damaged.
  Store(const std::filesystem::path& folder, const Space& space, const std::string& recipe);

  const std::vector<Trial>& done() const { return done_; }  // by id, without gaps

  void begin(const Trial& trial);
  void measure(int64_t trial, const Measurement& m);
  void finish(const Trial& trial);

 private:
  void create(const std::string& space, const std::string& recipe);
  void compare(const std::string& what, const std::string& text);
  void load(const std::string& space, const std::string& recipe);
  void forget_running();
  void load_trials();
  void load_numbers();
  [[noreturn]] void damaged(const std::string& how) const;

  std::filesystem::path folder_;
  FolderLock lock_;
  Space space_;
  Sqlite db_;
  std::vector<Trial> done_;
};

}  // namespace hone::search
