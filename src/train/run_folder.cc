#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "base/json.h"
#include "ckpt/atomic_file.h"
#include "ckpt/atomic_folder.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCheckpoint = "checkpoint-";
constexpr const char* kMetrics = "metrics.jsonl";

std::optional<int64_t> step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kCheckpoint)) return std::nullopt;
  int64_t step = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kCheckpoint.size(), end, step);
  if (error != std::errc() || rest != end) return std::nullopt;
  return step;
}

std::vector<int64_t> steps_in(const fs::path& folder) {
  std::vector<int64_t> steps;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto step = step_of(entry.path())) steps.push_back(*step);
  std::ranges::sort(steps, std::greater());
  return steps;
}

bool has_results(const fs::path& folder) {
  return fs::exists(folder / "adapter") || !steps_in(folder).empty();
}

// The step of a line of metrics.jsonl; nothing for one that was cut off.
std::optional<int64_t> step_of_line(const std::string& line) try {
  return parse_json(line, kMetrics).at("step").get<int64_t>();
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  const fs::path file = folder / ".lock";
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) throw FileError("cannot write {}: {}", file.string(), std::strerror(errno));
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;  // or has no locks
  close(fd_);
  throw FileError("{} is being written by another run; wait for it, or give another save.dir",
                  folder.string());
}

FolderLock::~FolderLock() { close(fd_); }

fs::path RunFolder::made(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw FileError("cannot make the run's folder {}: {}", folder.string(), failed.message());
  return folder;
}

RunFolder::RunFolder(const Recipe& recipe)
    : path_(made(recipe.save.dir)), lock_(path_), resume_(recipe.resume == "auto") {
  constexpr std::string_view kStaged[] = {kCheckpoint, "model"};
  ckpt::remove_staged(path_, kStaged);
  if (has_results(path_) && !(resume_ && !checkpoints().empty()))
    throw ConfigError(
        "{} holds the results of a run{}; give another save.dir, {}or remove the folder",
        path_.string(), resume_ ? " and no checkpoint to go on from" : "",
        resume_ ? "" : "go on with that run by resume=auto, ");
}

fs::path RunFolder::checkpoint(int64_t step) const {
  return path_ / fmt::format("{}{}", kCheckpoint, step);
}

std::vector<int64_t> RunFolder::checkpoints() const { return steps_in(path_); }

std::optional<RunState> RunFolder::newest_whole(
    const std::function<void(const std::string&)>& say) const {
  if (!resume_) return std::nullopt;
  std::string problem;
  for (const int64_t step : checkpoints()) try {
      if (!problem.empty()) say(problem + "; trying the checkpoint before it");
      return read_state(checkpoint(step));
    } catch (const Error& e) {
      problem = e.what();
    }
  if (problem.empty()) return std::nullopt;
  throw FileError("no checkpoint in {} is whole: {}; remove them to begin again", path_.string(),
                  problem);
}

void RunFolder::prune(int64_t newest, int64_t keep, int64_t best) const {
  for (const int64_t step : checkpoints())
    if (step <= newest && keep-- <= 0 && step != best) ckpt::remove_folder(checkpoint(step));
}

void RunFolder::cut_metrics(int64_t step) const {
  std::string kept;
  std::ifstream in(path_ / kMetrics);
  for (std::string line; std::getline(in, line);)
    if (const auto of = step_of_line(line); of && *of <= step) kept += line + "\n";
  ckpt::write_atomically(path_ / kMetrics, kept);
}

void clear_run(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  const FolderLock lock(folder);
  std::error_code ignored;  // what stays is refused by the run
  for (const int64_t step : steps_in(folder))
    ckpt::remove_folder(folder / fmt::format("{}{}", kCheckpoint, step));
  fs::remove_all(folder / "adapter", ignored);
  fs::remove(folder / "report.json", ignored);
}

}  // namespace hone::train
