#include "search/sqlite.h"

#include <sqlite3.h>

#include "base/check.h"
#include "base/error.h"

namespace hone::search {
namespace {

constexpr int kWaitMilliseconds = 10000;  // for somebody who reads the file with another program

}  // namespace

void Statement::Close::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
void Sqlite::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

Sqlite::Sqlite(const std::filesystem::path& file) : file_(file.string()) {
  sqlite3* db = nullptr;
  const int opened =
      sqlite3_open_v2(file_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  db_.reset(db);
  if (db == nullptr) throw FileError("{}: no memory to open it", file_);
  if (opened != SQLITE_OK) fail();
  // The file may come from elsewhere: its schema runs no functions and cannot be bent.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_busy_timeout(db, kWaitMilliseconds);
}

void Sqlite::fail() const { throw FileError("{}: {}", file_, sqlite3_errmsg(db_.get())); }

Statement Sqlite::prepare(std::string_view sql) {
  sqlite3_stmt* s = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &s, nullptr) !=
      SQLITE_OK)
    fail();
  return {*this, s};
}

Statement& Statement::bind(int i, int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), i, value) == SQLITE_OK, "bind {}", i);
  return *this;
}

Statement& Statement::bind(int i, double value) {
  check(sqlite3_bind_double(statement_.get(), i, value) == SQLITE_OK, "bind {}", i);
  return *this;
}

Statement& Statement::bind(int i, std::string_view text) {
  const int bound = sqlite3_bind_text64(statement_.get(), i, text.data(), text.size(),
                                        SQLITE_TRANSIENT, SQLITE_UTF8);
  if (bound != SQLITE_OK) db_->fail();
  return *this;
}

Statement& Statement::bind_null(int i) {
  check(sqlite3_bind_null(statement_.get(), i) == SQLITE_OK, "bind {}", i);
  return *this;
}

bool Statement::next() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) db_->fail();
  return result == SQLITE_ROW;
}

void Statement::run() {
  while (next()) {
  }
  sqlite3_reset(statement_.get());
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return "";
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Transaction::~Transaction() {
  if (done_) return;
  try {
    db_.run("ROLLBACK");
  } catch (const Error&) {  // SQLite has rolled back already
  }
}

void Transaction::commit() {
  db_.run("COMMIT");
  done_ = true;
}

}  // namespace hone::search
