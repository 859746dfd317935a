#include "data/token_cache.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/sha256.h"

namespace hone::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVersion = "1";         // of what rows become; a new one ends old stores
constexpr int64_t kBlockBytes = int64_t{4} << 20;  // of rows that are tokenised together
constexpr size_t kBlockRows = 2048;

struct Job {
  Row row;
  std::string place;
  std::vector<Tokenised> samples = {};
  std::vector<std::string> unused = {};
  uint64_t hash = 0;
  std::exception_ptr failed = {};
};

void work(Job& job, const Format& format, const Tokenising& t) {
  try {
    const std::vector<Example> examples = examples_of(format, job.row);
    for (const Example& e : examples) job.samples.push_back(tokenise(e, t));
    job.hash = content_hash(examples);
    job.unused = unused(format, job.row);
  } catch (const Error& e) {
    job.failed = std::make_exception_ptr(ConfigError("{}: {}", job.place, e.what()));
  } catch (...) {
    job.failed = std::current_exception();
  }
  job.row = nullptr;
}

// Each thread takes the next job that nobody has.
void work_all(std::vector<Job>& jobs, int threads, const Format& format, const Tokenising& t) {
  std::atomic<size_t> next = 0;
  const auto loop = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) work(jobs[i], format, t);
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < std::min<int>(threads, static_cast<int>(jobs.size())); ++i)
    others.emplace_back(loop);
  loop();
}

int64_t size_of(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  return failed ? 0 : static_cast<int64_t>(size);
}

class Builder {
 public:
  Builder(const fs::path& store, const SourceFiles& source, const Tokenising& t,
          const TokeniseOptions& options)
      : writer_(store), format_(format_of(source.format)), t_(t), options_(options) {
    threads_ = options.threads > 0 ? options.threads
                                   : static_cast<int>(std::thread::hardware_concurrency());
  }

  void add(const fs::path& file, int64_t before, int64_t all) {
    const auto rows = open_rows(file);
    std::vector<Job> jobs;
    int64_t begin = 0;
    while (auto row = rows->next()) {
      jobs.push_back({.row = std::move(*row), .place = rows->place()});
      if (rows->bytes_read() - begin < kBlockBytes && jobs.size() < kBlockRows) continue;
      begin = rows->bytes_read();
      finish(jobs);
      if (options_.progress) options_.progress(before + begin, all);
    }
    finish(jobs);
  }

  void commit(size_t files) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::object();
    for (const auto& [column, count] : unused_) columns[column] = count;
    writer_.commit({{"files", files}, {"rows", rows_}, {"unused", columns}});
  }

 private:
  void finish(std::vector<Job>& jobs) {
    work_all(jobs, threads_, format_, t_);
    for (const Job& job : jobs) {
      if (job.failed) std::rethrow_exception(job.failed);
      ++rows_;
      for (const Tokenised& s : job.samples) writer_.add(s.sample, s.ends, job.hash);
      for (const std::string& column : job.unused)
        if (unused_.size() < 100 || unused_.contains(column)) ++unused_[column];
    }
    jobs.clear();
  }

  TokenStoreWriter writer_;
  const Format& format_;
  const Tokenising& t_;
  const TokeniseOptions& options_;
  int threads_;
  int64_t rows_ = 0;
  std::map<std::string, int64_t> unused_;
};

std::string key_of(const std::vector<fs::path>& files, const SourceFiles& source,
                   const Tokenising& t) {
  nlohmann::ordered_json key = {{"version", kVersion},
                                {"format", source.format},
                                {"tokenizer", t.tokenizer.fingerprint()},
                                {"template", t.chat != nullptr ? t.chat->fingerprint() : ""},
                                {"all", t.learn.all},
                                {"roles", t.learn.roles},
                                {"last_turn", t.learn.last_turn},
                                {"files", nlohmann::ordered_json::array()}};
  for (const fs::path& file : files) {
    std::error_code failed;
    const auto changed = fs::last_write_time(file, failed);
    if (failed) throw FileError("cannot open {}: {}", file.string(), failed.message());
    key["files"].push_back(
        {fs::absolute(file).string(), size_of(file), changed.time_since_epoch().count()});
  }
  return sha256(key.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

fs::path token_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path f = set("HONE_CACHE"); !f.empty()) return f / "tokens";
  if (const fs::path f = set("XDG_CACHE_HOME"); !f.empty()) return f / "hone" / "tokens";
  if (const fs::path f = set("HOME"); !f.empty()) return f / ".cache" / "hone" / "tokens";
  throw ConfigError("no folder for tokenised data: set HONE_CACHE to one");
}

std::shared_ptr<const TokenStore> open_tokens(const SourceFiles& source, const Tokenising& t,
                                              const TokeniseOptions& options) {
  const std::vector<fs::path> files = expand(source.path);
  const fs::path folder = options.folder.empty() ? token_folder() : options.folder;
  const fs::path store = folder / (key_of(files, source, t) + ".tokens");
  if (fs::exists(store)) return TokenStore::open(store);

  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw FileError("cannot make the folder {} for tokenised data: {}; set HONE_CACHE to another",
                    folder.string(), failed.message());
  int64_t all = 0, before = 0;
  for (const fs::path& file : files) all += size_of(file);
  Builder builder(store, source, t, options);
  for (const fs::path& file : files) {
    builder.add(file, before, all);
    before += size_of(file);
  }
  builder.commit(files.size());
  return TokenStore::open(store);
}

}  // namespace hone::data
