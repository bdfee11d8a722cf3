#include "bench/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <system_error>
#include <utility>

#include "base/text.h"

namespace evener::bench {
namespace {

constexpr int kValueBytesMax = 64 << 20;
constexpr int kPatienceMs = 10'000;

struct Explanation {
  Code code;
  const char* why;  // null: SQLite's own words
  const char* remedy;
};

Explanation explain(int code) {
  switch (code) {
    case SQLITE_FULL:
      return {Code::unavailable, "the disk is full",
              "make room, or name a file on another disk with --store; what was recorded before "
              "is kept"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Code::permission_denied, "it may only be read",
              "name a file of your own with --store"};
    case SQLITE_CANTOPEN:
      return {Code::permission_denied, "it, or a file beside it, cannot be opened",
              "check the rights of the file and of its folder"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Code::corrupt, nullptr,
              "keep the file and name another one with --store; sqlite3 FILE .recover prints what "
              "can still be read of it"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::unavailable, "another process has held it for ten seconds",
              "end that process, or name another file with --store"};
    case SQLITE_TOOBIG:
      return {Code::limit_exceeded, "a value has more than 64 MiB", ""};
    case SQLITE_NOMEM:
      return {Code::out_of_memory, nullptr, ""};
    case SQLITE_IOERR:
      return {Code::unavailable, nullptr, "look at the kernel's log for faults of the disk"};
    default:
      return {Code::internal, nullptr, ""};
  }
}

Error error_of(int code, const char* words, const std::string& file) {
  const Explanation found = explain(code & 0xff);
  return {.code = found.code,
          .doing = "use the store of results",
          .where = file,
          .why = found.why != nullptr ? found.why : printable(words),
          .remedy = found.remedy};
}

// A store on a medium that cannot be written has no room for the files that WAL needs beside it.
// Such a one does not change either, so it may be read without them.
std::string immutable_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const bool plain = c != '%' && c != '?' && c != '#';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

bool has_wal(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file.string() + "-wal", error);
  return !error && size > 0;
}

void harden(sqlite3* handle) {
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kPatienceMs);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kValueBytesMax);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::filesystem::path& file, Access access) {
  std::error_code unseen;
  if (access == Access::read && !std::filesystem::exists(file, unseen)) {
    return Error{.code = unseen ? Code::permission_denied : Code::not_found,
                 .doing = "use the store of results",
                 .where = file.string(),
                 .why = unseen ? unseen.message() : "there is no such file",
                 .remedy = "measure something with evener bench, or name a file with --store"};
  }
  Database out;
  out.file_ = file.string();
  const auto open_as = [&](const std::string& name, int flags) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
    out.handle_.reset(handle);
    if (handle != nullptr) harden(handle);
    return code;
  };

  const int flags =
      access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  int code = open_as(out.file_, flags);
  if (code == SQLITE_OK) {  // the file is only looked at by the first statement
    code = sqlite3_exec(out.handle_.get(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr,
                        nullptr);
  }
  const bool wal_fails = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
  if (access == Access::read && wal_fails && !has_wal(file)) {
    code = open_as(immutable_uri(file), flags | SQLITE_OPEN_URI);
  }
  if (code != SQLITE_OK) {
    if (out.handle_ == nullptr) return error_of(code, "no memory", out.file_);
    return error_of(code, sqlite3_errmsg(out.handle_.get()), out.file_);
  }
  return out;
}

Error Database::error() const {
  return error_of(sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()), file_);
}

bool Database::is_constraint() const {
  return (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_CONSTRAINT;
}

Status Database::run(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

void Database::roll_back() { sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* handle = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_.get(), sql.c_str(), int(sql.size()), &handle, nullptr);
  if (code != SQLITE_OK) return error();
  return Statement(handle);
}

Result<int64_t> Database::integer(const char* sql) {
  ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  ASSIGN_OR_RETURN(const bool has_row, statement.step());
  return has_row ? statement.integer(0) : 0;
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Error Statement::error() const {
  sqlite3* const connection = sqlite3_db_handle(handle_.get());
  return error_of(sqlite3_extended_errcode(connection), sqlite3_errmsg(connection),
                  sqlite3_db_filename(connection, "main"));
}

void Statement::bind(int place, int64_t value) {
  bound_ &= sqlite3_bind_int64(handle_.get(), place, value) == SQLITE_OK;
}

void Statement::bind(int place, double value) {
  bound_ &= sqlite3_bind_double(handle_.get(), place, value) == SQLITE_OK;
}

void Statement::bind(int place, std::string_view text) {
  const char* const data = text.empty() ? "" : text.data();  // null would be NULL
  bound_ &= sqlite3_bind_text64(handle_.get(), place, data, text.size(), SQLITE_TRANSIENT,
                                SQLITE_UTF8) == SQLITE_OK;
}

void Statement::bind_bytes(int place, std::string_view bytes) {
  const char* const data = bytes.empty() ? "" : bytes.data();
  bound_ &=
      sqlite3_bind_blob64(handle_.get(), place, data, bytes.size(), SQLITE_TRANSIENT) == SQLITE_OK;
}

void Statement::bind_null(int place) {
  bound_ &= sqlite3_bind_null(handle_.get(), place) == SQLITE_OK;
}

Result<bool> Statement::step() {
  if (!std::exchange(bound_, true)) return error();
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error failure = error();
  sqlite3_reset(handle_.get());
  return failure;
}

Status Statement::run() {
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_row, step());
    if (!has_row) break;
  }
  sqlite3_reset(handle_.get());
  return {};
}

Statement::Kind Statement::kind(int column) const {
  switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_INTEGER:
      return Kind::integer;
    case SQLITE_FLOAT:
      return Kind::real;
    case SQLITE_TEXT:
      return Kind::text;
    case SQLITE_BLOB:
      return Kind::bytes;
    default:
      return Kind::null;
  }
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

std::string_view Statement::bytes(int column) const {
  const void* const data = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size_t(size));
}

std::string Statement::column_name(int column) const {
  const char* const name = sqlite3_column_name(handle_.get(), column);
  return name == nullptr ? std::string() : name;
}

}  // namespace evener::bench
