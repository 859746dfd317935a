// The few calls of SQLite that the store needs, checked, with owners. Errors are FileErrors that
// name the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace hone::search {

class Sqlite;

class Statement {
 public:
  // Parameters count from 1, columns from 0.
  Statement& bind(int i, int64_t value);
  Statement& bind(int i, double value);
  Statement& bind(int i, std::string_view text);
  Statement& bind_null(int i);

  bool next();  // false: no more rows
  void run();   // to the end, and ready to be bound again

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  friend class Sqlite;
  struct Close {
    void operator()(sqlite3_stmt* s) const;
  };
  Statement(Sqlite& db, sqlite3_stmt* s) : db_(&db), statement_(s) {}

  Sqlite* db_;
  std::unique_ptr<sqlite3_stmt, Close> statement_;
};

class Sqlite {
 public:
  explicit Sqlite(const std::filesystem::path& file);  // makes it when it is not there

  Statement prepare(std::string_view sql);
  void run(std::string_view sql) { prepare(sql).run(); }
  [[noreturn]] void fail() const;  // what SQLite says went wrong

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::string file_;
  std::unique_ptr<sqlite3, Close> db_;
};

// Rolls back unless commit() returned.
class Transaction {
 public:
  explicit Transaction(Sqlite& db) : db_(db) { db_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Sqlite& db_;
  bool done_ = false;
};

}  // namespace hone::search
