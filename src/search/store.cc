#include "search/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/quote.h"

namespace hone::search {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kApplication = 0x686f6e65;  // "hone", in the file's header
constexpr int64_t kVersion = 1;

const char* const kSchema[] = {
    "CREATE TABLE study (what TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE trial (id INTEGER PRIMARY KEY, state TEXT NOT NULL, value REAL, "
    "steps INTEGER NOT NULL, started TEXT NOT NULL, seconds REAL NOT NULL, note TEXT NOT NULL) "
    "STRICT",
    "CREATE TABLE parameter (trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL, "
    "number REAL NOT NULL, text TEXT NOT NULL, PRIMARY KEY (trial, name)) STRICT, WITHOUT ROWID",
    "CREATE TABLE measurement (trial INTEGER NOT NULL REFERENCES trial, step INTEGER NOT NULL, "
    "value REAL NOT NULL, PRIMARY KEY (trial, step)) STRICT, WITHOUT ROWID",
    "CREATE TABLE metric (trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL, "
    "value REAL NOT NULL, PRIMARY KEY (trial, name)) STRICT, WITHOUT ROWID",
};

// A study may be given more trials later; nothing else of it may change.
std::string identity(Space space) {
  space.trials.reset();
  return space_text(space);
}

std::string first_difference(const std::string& before, const std::string& now) {
  std::istringstream a(before), b(now);
  std::string line_a, line_b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(a, line_a));
    const bool more_b = static_cast<bool>(std::getline(b, line_b));
    if (!more_a) line_a = "nothing";
    if (!more_b) line_b = "nothing";
    if (line_a != line_b || (!more_a && !more_b))
      return fmt::format("{} there, {} now", quote(line_a), quote(line_b));
  }
}

bool holds_something(const fs::path& folder) {
  return fs::directory_iterator(folder) != fs::directory_iterator();
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw FileError("cannot make the study's folder {}: {}", folder.string(), failed.message());
  if (!fs::exists(folder / "study.db") && holds_something(folder))
    throw ConfigError("{} holds something other than a study; give a new folder, as in save.dir={}",
                      folder.string(), "runs/study");
  fd_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) throw FileError("cannot open {}: {}", folder.string(), std::strerror(errno));
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  const int why = errno;
  close(fd_);
  if (why == EWOULDBLOCK) throw ConfigError("another hone tune works in {}", folder.string());
  throw FileError("cannot lock {}: {}", folder.string(), std::strerror(why));
}

FolderLock::~FolderLock() { close(fd_); }

Store::Store(const fs::path& folder, const Space& space, const std::string& recipe)
    : folder_(folder), lock_(folder), space_(space), db_(folder / "study.db") {
  Statement tables = db_.prepare("SELECT count(*) FROM sqlite_schema");
  tables.next();
  const bool empty = tables.integer(0) == 0;
  tables.run();
  if (empty)
    create(identity(space), recipe);
  else
    load(identity(space), recipe);
}

void Store::damaged(const std::string& how) const {
  throw FileError("{}: {}", (folder_ / "study.db").string(), how);
}

void Store::create(const std::string& space, const std::string& recipe) {
  Transaction t(db_);
  db_.run(fmt::format("PRAGMA application_id = {}", kApplication));
  db_.run(fmt::format("PRAGMA user_version = {}", kVersion));
  for (const char* table : kSchema) db_.run(table);
  Statement insert = db_.prepare("INSERT INTO study VALUES (?, ?)");
  insert.bind(1, "space").bind(2, space).run();
  insert.bind(1, "recipe").bind(2, recipe).run();
  t.commit();
}

void Store::compare(const std::string& what, const std::string& text) {
  Statement select = db_.prepare("SELECT text FROM study WHERE what = ?");
  if (!select.bind(1, what).next()) damaged(fmt::format("has no {}", what));
  const std::string before = select.text(0);
  if (before == text) return;
  throw ConfigError("{} is a study with another {} ({}); give the same, or a new save.dir",
                    folder_.string(), what, first_difference(before, text));
}

void Store::load(const std::string& space, const std::string& recipe) {
  Statement header = db_.prepare(
      "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version");
  header.next();
  const int64_t application = header.integer(0), version = header.integer(1);
  header.run();
  if (application != kApplication) damaged("no study of hone");
  if (version != kVersion)
    damaged(fmt::format("written by another hone (format {}, this one has {})", version, kVersion));
  compare("space", space);
  compare("recipe", recipe);
  forget_running();
  load_trials();
  load_numbers();
}

void Store::forget_running() {
  Transaction t(db_);
  for (const char* table : {"parameter", "measurement", "metric"})
    db_.run(
        fmt::format("DELETE FROM {} WHERE trial IN (SELECT id FROM trial WHERE state = "
                    "'running')",
                    table));
  db_.run("DELETE FROM trial WHERE state = 'running'");
  t.commit();
}

void Store::load_trials() {
  Statement rows =
      db_.prepare("SELECT id, state, value, steps, started, seconds, note FROM trial ORDER BY id");
  while (rows.next()) {
    Trial t;
    t.id = rows.integer(0);
    if (t.id != static_cast<int64_t>(done_.size()))
      damaged(fmt::format("trial {} is missing", done_.size()));
    const auto state = std::ranges::find(kStateNames, rows.text(1));
    if (state == std::end(kStateNames)) damaged(fmt::format("trial {}: unknown state", t.id));
    t.state = static_cast<State>(state - std::begin(kStateNames));
    if (!rows.is_null(2)) t.value = rows.real(2);
    t.steps = rows.integer(3);
    t.started = rows.text(4);
    t.seconds = rows.real(5);
    t.note = rows.text(6);
    done_.push_back(std::move(t));
  }
}

void Store::load_numbers() {
  const auto trial = [&](int64_t id) -> Trial& {
    if (id < 0 || id >= static_cast<int64_t>(done_.size()))
      damaged(fmt::format("speaks of trial {}, which is not there", id));
    return done_[static_cast<size_t>(id)];
  };
  const std::vector<Parameter>& list = space_.parameters.list;
  Statement parameter = db_.prepare("SELECT number FROM parameter WHERE trial = ? AND name = ?");
  for (Trial& t : done_)
    for (const Parameter& p : list) {
      if (!parameter.bind(1, t.id).bind(2, p.name).next() || !p.contains(parameter.real(0)))
        damaged(fmt::format("trial {} has no value of {}", t.id, p.name));
      t.numbers.push_back(parameter.real(0));
      parameter.run();
    }
  Statement measured =
      db_.prepare("SELECT trial, step, value FROM measurement ORDER BY trial, step");
  while (measured.next())
    trial(measured.integer(0)).measurements.push_back({measured.integer(1), measured.real(2)});
  Statement metrics = db_.prepare("SELECT trial, name, value FROM metric");
  while (metrics.next()) trial(metrics.integer(0)).metrics[metrics.text(1)] = metrics.real(2);
}

void Store::begin(const Trial& trial) {
  Transaction t(db_);
  db_.prepare("INSERT INTO trial VALUES (?, 'running', NULL, 0, ?, 0, '')")
      .bind(1, trial.id)
      .bind(2, trial.started)
      .run();
  Statement insert = db_.prepare("INSERT INTO parameter VALUES (?, ?, ?, ?)");
  for (size_t i = 0; i < trial.numbers.size(); ++i) {
    const Parameter& p = space_.parameters.list[i];
    insert.bind(1, trial.id).bind(2, p.name).bind(3, trial.numbers[i]);
    insert.bind(4, p.text(trial.numbers[i])).run();
  }
  t.commit();
}

void Store::measure(int64_t trial, const Measurement& m) {
  db_.prepare("INSERT INTO measurement VALUES (?, ?, ?)")
      .bind(1, trial)
      .bind(2, m.step)
      .bind(3, m.value)
      .run();
}

void Store::finish(const Trial& trial) {
  Transaction t(db_);
  Statement update = db_.prepare(
      "UPDATE trial SET state = ?, value = ?, steps = ?, seconds = ?, note = ? WHERE id = ?");
  update.bind(1, name_of(trial.state)).bind(3, trial.steps).bind(4, trial.seconds);
  update.bind(5, trial.note).bind(6, trial.id);
  trial.value ? update.bind(2, *trial.value) : update.bind_null(2);
  update.run();
  Statement insert = db_.prepare("INSERT INTO metric VALUES (?, ?, ?)");
  for (const auto& [name, value] : trial.metrics)
    insert.bind(1, trial.id).bind(2, name).bind(3, value).run();
  t.commit();
  done_.push_back(trial);
}

}  // namespace hone::search
