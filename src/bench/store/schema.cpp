#include "bench/store/schema.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <thread>

namespace evener::bench {
namespace {

constexpr int64_t kApplicationId = 0x45766e42;  // "EvnB"

// Times ending in _ns count from the start of the run, but runs.started_ns from 1970. Hashes are 16
// hexadecimal digits. What is not known is NULL.
constexpr auto kTables = std::to_array<const char*>({
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, "
    "note TEXT NOT NULL, started_ns INTEGER NOT NULL, caliber TEXT NOT NULL, "
    "caliber_digest TEXT NOT NULL) STRICT",

    "CREATE TABLE run_ends (run TEXT PRIMARY KEY REFERENCES runs(id), state TEXT NOT NULL) STRICT",

    "CREATE TABLE cells (number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), "
    "key TEXT NOT NULL, experiment TEXT NOT NULL, target TEXT NOT NULL, round INTEGER NOT NULL, "
    "began_ns INTEGER NOT NULL, ended_ns INTEGER NOT NULL, state TEXT NOT NULL, "
    "UNIQUE (run, key)) STRICT",

    "CREATE TABLE requests (number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), "
    "cell TEXT NOT NULL, label TEXT NOT NULL, excluded INTEGER NOT NULL, attempt INTEGER NOT NULL, "
    "prompt_hash TEXT NOT NULL, num_tokens_in_wanted INTEGER NOT NULL, "
    "num_tokens_out_wanted INTEGER NOT NULL, streamed INTEGER NOT NULL, scheduled_ns INTEGER, "
    "sent_ns INTEGER NOT NULL, header_ns INTEGER, ended_ns INTEGER NOT NULL, "
    "http_status INTEGER NOT NULL, num_empty_events INTEGER NOT NULL, "
    "done_seen INTEGER NOT NULL, request_id TEXT NOT NULL, finish TEXT NOT NULL, fault TEXT, "
    "error TEXT NOT NULL, num_malformed_events INTEGER NOT NULL, "
    "usage_disagreed INTEGER NOT NULL, num_tokens_in INTEGER, num_tokens_cached INTEGER, "
    "num_tokens_out INTEGER, num_tokens_reasoning INTEGER, server_queue_ms REAL, "
    "server_prefill_ms REAL, server_decode_ms REAL, server_gap_max_ms REAL, num_drafted INTEGER, "
    "num_accepted INTEGER, output_hash TEXT NOT NULL, text TEXT NOT NULL, "
    "tool_calls TEXT NOT NULL, num_events INTEGER NOT NULL, events BLOB NOT NULL) STRICT",
    "CREATE INDEX requests_of_cell ON requests (run, cell)",

    "CREATE TABLE cell_values (number INTEGER PRIMARY KEY, "
    "run TEXT NOT NULL REFERENCES runs(id), cell TEXT NOT NULL, key TEXT NOT NULL, "
    "unit TEXT NOT NULL, value REAL, at_ns INTEGER NOT NULL) STRICT",
    "CREATE INDEX values_of_cell ON cell_values (run, cell)",

    "CREATE TABLE figures (run TEXT NOT NULL REFERENCES runs(id), cell TEXT NOT NULL, "
    "key TEXT NOT NULL, n INTEGER NOT NULL, mean REAL NOT NULL, sd REAL NOT NULL, "
    "min REAL NOT NULL, p5 REAL NOT NULL, p50 REAL NOT NULL, p90 REAL NOT NULL, "
    "p95 REAL NOT NULL, p99 REAL, max REAL NOT NULL, ci95_low REAL, ci95_high REAL, "
    "PRIMARY KEY (run, cell, key)) STRICT",

    "CREATE TABLE telemetry (number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), "
    "at_ns INTEGER NOT NULL, host TEXT NOT NULL, cards TEXT NOT NULL) STRICT",
    "CREATE INDEX telemetry_of_run ON telemetry (run)",

    "CREATE TABLE findings (number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), "
    "fault TEXT NOT NULL, severity TEXT NOT NULL, cell TEXT NOT NULL, request TEXT NOT NULL, "
    "detail TEXT NOT NULL) STRICT",
    "CREATE INDEX findings_of_run ON findings (run)",
});

constexpr auto kTableNames = std::to_array<const char*>(
    {"runs", "run_ends", "cells", "requests", "cell_values", "figures", "telemetry", "findings"});

std::set<std::string> statements() {
  std::set<std::string> out(kTables.begin(), kTables.end());
  for (const char* const table : kTableNames) {
    for (const char* const change : {"UPDATE", "DELETE"}) {
      out.insert(fmt::format(
          "CREATE TRIGGER {0}_{1} BEFORE {1} ON {0} BEGIN SELECT RAISE(ABORT, 'a store of results "
          "is only added to'); END",
          table, change));
    }
  }
  return out;
}

Error not_a_store(const Database& database, std::string why) {
  return {.code = Code::corrupt,
          .doing = "use the store of results",
          .where = database.file(),
          .why = std::move(why),
          .remedy = "name another file with --store"};
}

Status make_schema(Database& database) {
  return database.in_transaction([&]() -> Status {
    ASSIGN_OR_RETURN(const int64_t size, database.integer("SELECT count(*) FROM sqlite_schema"));
    ASSIGN_OR_RETURN(const int64_t id, database.integer("PRAGMA application_id"));
    if (size > 0 || id != 0) return {};
    // An index follows its table in the list, and every trigger all tables.
    for (const char* const statement : kTables) RETURN_IF_ERROR(database.run(statement));
    for (const std::string& statement : statements()) {
      if (statement.starts_with("CREATE TRIGGER")) {
        RETURN_IF_ERROR(database.run(statement.c_str()));
      }
    }
    RETURN_IF_ERROR(
        database.run(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str()));
    return database.run(fmt::format("PRAGMA user_version = {}", kSchemaVersion).c_str());
  });
}

// Changing the mode needs the file for a moment and does not wait for it by itself.
Status use_wal(Database& database) {
  constexpr int kTries = 1'000;
  constexpr auto kPause = std::chrono::milliseconds(10);
  Status changed;
  for (int i = 0; i < kTries; ++i) {
    changed = database.run("PRAGMA journal_mode = WAL");
    if (changed || changed.error().code != Code::unavailable) return changed;
    std::this_thread::sleep_for(kPause);
  }
  return changed;
}

}  // namespace

Status check_schema(Database& database) {
  ASSIGN_OR_RETURN(const int64_t id, database.integer("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, database.integer("PRAGMA user_version"));
  if (id != kApplicationId) return not_a_store(database, "it is no store of evener bench");
  if (version > kSchemaVersion) {
    return Error{.code = Code::unsupported,
                 .doing = "use the store of results",
                 .where = database.file(),
                 .why = fmt::format("it has format {}, and this evener knows formats up to {}",
                                    version, kSchemaVersion),
                 .remedy = "use the evener that wrote it, or one after it"};
  }
  ASSIGN_OR_RETURN(Statement found,
                   database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name "
                                    "NOT LIKE 'sqlite\\_%' ESCAPE '\\'"));
  std::set<std::string> expected = statements();
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_row, found.step());
    if (!has_row) break;
    if (expected.erase(std::string(found.bytes(0))) == 0) {
      return not_a_store(database, "it has a table, index or trigger that a store has not");
    }
  }
  if (!expected.empty()) return not_a_store(database, "it lacks a table, index or trigger");
  return {};
}

Result<Database> open_store_to_write(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(Database database, Database::open(file, Database::Access::write));
  RETURN_IF_ERROR(make_schema(database));
  RETURN_IF_ERROR(check_schema(database));
  RETURN_IF_ERROR(use_wal(database));
  RETURN_IF_ERROR(database.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  return database;
}

}  // namespace evener::bench
