#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite behind two small classes; the only file that knows its error codes.

namespace evener::bench {

class Statement;

// One connection. One thread at a time. A file is data, not code: its schema is not trusted, and no
// value longer than 64 MiB is read or written.
class Database {
 public:
  enum class Access : uint8_t { read, write };
  // write makes the file. Waits up to ten seconds for other processes, in every call. Errors:
  // not_found, permission_denied, corrupt (another kind of file), unavailable.
  static Result<Database> open(const std::filesystem::path& file, Access access);

  Status run(const char* sql);  // statements without results
  Result<Statement> prepare(const std::string& sql);
  Result<int64_t> integer(const char* sql);  // the first column of the first row

  // Inside a transaction: BEGIN IMMEDIATE; f; COMMIT, or ROLLBACK if f or the COMMIT failed.
  template <class F>
  Status in_transaction(const F& f) {
    RETURN_IF_ERROR(run("BEGIN IMMEDIATE"));
    Status done = f();
    if (done) done = run("COMMIT");
    if (!done) roll_back();
    return done;
  }

  const std::string& file() const { return file_; }
  Error error() const;         // of the last call, as a sentence that names the file
  bool is_constraint() const;  // the last call would have broken a rule of the schema

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  void roll_back();

  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement, and the row it stands on. The connection must outlive it.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}

  // Places count from 1. The bytes are copied.
  void bind(int place, int64_t value);
  void bind(int place, double value);  // NaN is stored as NULL
  void bind(int place, std::string_view text);
  void bind_bytes(int place, std::string_view bytes);
  void bind_null(int place);

  Result<bool> step();  // whether there is a row
  Status run();         // to the end, ready for the next one

  // Columns count from 0. Texts and bytes hold until the next step.
  enum class Kind : uint8_t { integer, real, text, bytes, null };
  Kind kind(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view bytes(int column) const;  // of a text, too
  std::string column_name(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  Error error() const;

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  bool bound_ = true;  // every bind succeeded
};

}  // namespace evener::bench
