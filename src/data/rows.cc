#include <algorithm>

#include "base/error.h"
#include "base/quote.h"
#include "data/row.h"

namespace hone::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100'000;

// * and ?, in linear time but for repeated stars, where it walks back to the last one only.
bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, kept = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, kept = n;
    } else if (star != std::string_view::npos) {
      p = star + 1, n = ++kept;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

}  // namespace

std::vector<fs::path> expand(const std::string& path) {
  if (!is_pattern(path) || fs::exists(path)) return {path};
  const fs::path pattern = path;
  const fs::path folder = pattern.has_parent_path() ? pattern.parent_path() : fs::path(".");
  if (is_pattern(folder.string()))
    throw ConfigError("{}: * and ? may stand in the last part of a path only", path);
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') || !matches(pattern.filename().string(), name)) continue;
    if (!entry.is_regular_file()) continue;
    files.push_back(pattern.has_parent_path() ? entry.path() : fs::path(name));
    if (files.size() > kMostFiles) throw ConfigError("{}: more than {} files", path, kMostFiles);
  }
  if (failed) throw FileError("cannot read the folder {}: {}", folder.string(), failed.message());
  if (files.empty()) throw FileError("no file is called {}", path);
  std::ranges::sort(files);
  return files;
}

std::unique_ptr<RowReader> open_rows(const fs::path& file, const RowLimits& limits) {
  const std::string kind = file.extension().string();
  if (kind == ".jsonl" || kind == ".ndjson") return open_json_lines(file, limits);
  if (kind == ".json") return open_json(file, limits);
  if (kind == ".csv") return open_csv(file, limits);
  if (kind == ".tsv") return open_csv(file, limits, '\t');
  if (kind == ".txt") return open_text(file, limits);
  if (kind == ".tfrecord" || kind == ".tfrecords") return open_tfrecord(file, limits);
  if (kind == ".parquet") return open_parquet(file, limits);
  throw ConfigError(
      "{}: a file of an unknown kind; the name must end with .jsonl, .json, .csv, .tsv, .txt, "
      ".tfrecord or .parquet",
      file.string());
}

}  // namespace hone::data
