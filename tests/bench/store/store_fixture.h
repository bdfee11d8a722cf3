#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "bench/figures/make_record.h"
#include "bench/store.h"

namespace evener::bench {

// A folder of its own for each test, gone after it.
class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("evener_store_") + info->name() + "_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    file_ = folder_ / "bench.sqlite";
  }
  ~StoreTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  static RunHeader make_header(std::string id) {
    RunHeader header;
    header.id = std::move(id);
    header.name = "sweep";
    header.note = "a note";
    header.started = std::chrono::system_clock::time_point(std::chrono::seconds(1'790'000'000));
    header.caliber = {{"model.hash", "aa"}, {"server.version", "0.1.0"}};
    return header;
  }

  static CellRecord make_cell(std::string key) {
    CellRecord cell;
    cell.key = std::move(key);
    cell.experiment = "sweep";
    cell.target = {{"num_tokens_in", "100"}};
    cell.round = 1;
    cell.began = at_ms(0);
    cell.ended = at_ms(2000);
    return cell;
  }

  // A finished run with one cell of three requests.
  void write_run(const std::filesystem::path& file, const std::string& id) {
    auto recorder = StoreRecorder::create(file, make_header(id));
    ASSERT_TRUE(recorder) << to_string(recorder.error());
    for (const double first : {100, 110, 120}) {
      (*recorder)->request(make_record("sweep/100/1", 0, {first, first + 10, first + 30}));
    }
    (*recorder)->value({.cell = "sweep/100/1", .key = "score", .unit = "", .value = 0.5});
    ASSERT_TRUE((*recorder)->end_cell(make_cell("sweep/100/1")));
    ASSERT_TRUE((*recorder)->finish(RunState::complete));
  }

  // Runs `sql` behind the store's back. The result is SQLite's word for what happened.
  static std::string sql(const std::filesystem::path& file, const std::string& text) {
    sqlite3* handle = nullptr;
    sqlite3_open(file.c_str(), &handle);
    char* words = nullptr;
    sqlite3_exec(handle, text.c_str(), nullptr, nullptr, &words);
    std::string out = words == nullptr ? "" : words;
    sqlite3_free(words);
    sqlite3_close(handle);
    return out;
  }

  // As sql(), but a store's triggers are taken away for it and come back after.
  static void tamper(const std::filesystem::path& file, const std::string& table,
                     const std::string& change) {
    const std::string name = table + "_UPDATE";
    ASSERT_EQ(
        sql(file, "CREATE TEMP TABLE kept AS SELECT sql FROM sqlite_schema WHERE name = '" + name +
                      "'; PRAGMA writable_schema = ON; DROP TRIGGER " + name + "; " + change),
        "");
    ASSERT_EQ(sql(file, "CREATE TRIGGER " + name + " BEFORE UPDATE ON " + table +
                            " BEGIN SELECT RAISE(ABORT, 'a store of results is only added to'); "
                            "END"),
              "");
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

}  // namespace evener::bench
