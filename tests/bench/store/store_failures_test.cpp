// What happens to a store when the disk, the process or somebody else gets in its way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/store.h"
#include "bench/store/store_fixture.h"

namespace evener::bench {
namespace {

using testing::HasSubstr;

class StoreFailures : public StoreTest {};

// Every connection that is opened while one lives, so that a test can make a file "full" or
// read-only as SQLite sees it.
class Connections {
 public:
  Connections() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&on_open)); }
  ~Connections() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&on_open));
    opened().clear();
  }
  void run(const char* sql) {
    for (sqlite3* const handle : opened()) {
      ASSERT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    }
  }

 private:
  static std::vector<sqlite3*>& opened() {
    static std::vector<sqlite3*> handles;
    return handles;
  }
  static int on_open(sqlite3* handle, const char** /*words*/, const void* /*api*/) {
    opened().push_back(handle);
    return SQLITE_OK;
  }
};

RequestRecord long_record() {
  RequestRecord r = make_record("sweep/100/1", 0, {100, 120});
  r.text = std::string(100'000, 'x');
  return r;
}

TEST_F(StoreFailures, AFullDiskIsSaidAndLosesNothing) {
  Connections connections;
  auto recorder = StoreRecorder::create(file_, make_header("a"));
  ASSERT_TRUE(recorder);
  (*recorder)->request(make_record("sweep/100/1", 0, {100, 110}));
  ASSERT_TRUE((*recorder)->end_cell(make_cell("sweep/100/0")));

  connections.run("PRAGMA max_page_count = 1");  // the size that it has
  (*recorder)->request(long_record());
  const Status full = (*recorder)->end_cell(make_cell("sweep/100/1"));
  ASSERT_FALSE(full);
  EXPECT_EQ(to_string(full.error()),
            "cannot use the store of results: " + file_.string() +
                ": the disk is full\n  make room, or name a file on another disk with --store; "
                "what was recorded before is kept");
  auto store = Store::open(file_);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->load("a")->requests.size(), 1);

  connections.run("PRAGMA max_page_count = 1000000");  // somebody made room
  EXPECT_TRUE((*recorder)->finish(RunState::complete));
  const auto run = store->load("a");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->requests.size(), 2);
  EXPECT_EQ(run->cells.size(), 2);
  EXPECT_EQ(run->state, RunState::complete);
}

TEST_F(StoreFailures, AFileThatMayOnlyBeReadIsNamed) {
  Connections connections;
  auto recorder = StoreRecorder::create(file_, make_header("a"));
  ASSERT_TRUE(recorder);
  connections.run("PRAGMA query_only = ON");
  (*recorder)->request(make_record("sweep/100/1", 0, {100}));
  const Status status = (*recorder)->end_cell(make_cell("sweep/100/1"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::permission_denied);
  EXPECT_EQ(status.error().where, file_.string());
  EXPECT_EQ(status.error().why, "it may only be read");
}

TEST_F(StoreFailures, ACellOfAKeyThatIsTakenIsRefusedAndTheRestIsKept) {
  auto recorder = StoreRecorder::create(file_, make_header("a"));
  ASSERT_TRUE(recorder);
  ASSERT_TRUE((*recorder)->end_cell(make_cell("sweep/100/1")));
  (*recorder)->request(make_record("sweep/100/1", 0, {100}));
  const Status again = (*recorder)->end_cell(make_cell("sweep/100/1"));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().why, HasSubstr("cells.run, cells.key"));
  EXPECT_TRUE((*recorder)->finish(RunState::complete));
  EXPECT_EQ(Store::open(file_)->load("a")->requests.size(), 1);
}

// Method: a child records without end and says so through a pipe; after 200 requests it is killed
// at whatever it does.
TEST_F(StoreFailures, AProcessThatIsKilledLeavesAnUnfinishedRun) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto recorder = StoreRecorder::create(file_, make_header("killed"));
    if (!recorder) _exit(1);
    for (int i = 0;; ++i) {
      (*recorder)->request(make_record("sweep/100/1", i, {i + 100.0, i + 110.0}));
      if (i == 99 && !(*recorder)->end_cell(make_cell("sweep/100/1"))) _exit(1);
      if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
    }
  }
  close(pipe_ends[1]);
  char byte = 0;
  for (int i = 0; i < 200; ++i) ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  close(pipe_ends[0]);

  auto store = Store::open(file_);
  ASSERT_TRUE(store) << to_string(store.error());
  const auto run = store->load("killed");
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_EQ(run->state, RunState::unfinished);
  EXPECT_GE(run->requests.size(), 100) << "what end_cell had seen was on the disk";
  EXPECT_EQ(run->cells.size(), 1);
  for (size_t i = 0; i < run->requests.size(); ++i) {
    EXPECT_EQ(run->requests[i].sent, at_ms(double(i))) << "none is missing in between";
  }
  write_run(file_, "next");  // and the file can be written again
  EXPECT_EQ(store->runs()->size(), 2);
}

TEST_F(StoreFailures, SeveralProcessesMakeAndWriteOneFile) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto recorder = StoreRecorder::create(file_, make_header("run-" + std::to_string(i)));
      if (!recorder) _exit(1);
      for (int j = 0; j < 50; ++j) (*recorder)->request(make_record("sweep/100/1", j, {j + 1.0}));
      if (!(*recorder)->end_cell(make_cell("sweep/100/1"))) _exit(2);
      _exit((*recorder)->finish(RunState::complete) ? 0 : 3);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  auto store = Store::open(file_);
  ASSERT_TRUE(store) << to_string(store.error());
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 4);
  for (const RunEntry& entry : *runs) {
    EXPECT_EQ(entry.state, RunState::complete);
    EXPECT_EQ(entry.num_requests, 50);
  }
}

TEST_F(StoreFailures, AnotherKindOfFileIsNamed) {
  std::ofstream(file_) << "this is a table of results, but a text: " << std::string(5000, 'x');
  const auto as_text = Store::open(file_);
  ASSERT_FALSE(as_text);
  EXPECT_EQ(as_text.error().code, Code::corrupt);
  EXPECT_EQ(as_text.error().why, "file is not a database");
  EXPECT_FALSE(StoreRecorder::create(file_, make_header("a")));

  std::filesystem::remove(file_);
  ASSERT_EQ(sql(file_, "CREATE TABLE mine (x)"), "");
  const auto other = StoreRecorder::create(file_, make_header("a"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().why, "it is no store of evener bench");
  EXPECT_EQ(sql(file_, "INSERT INTO mine VALUES (1)"), "") << "and it is left as it was";
}

TEST_F(StoreFailures, AMissingFileAndAFolderAreNamed) {
  const auto missing = Store::open(folder_ / "none.sqlite");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().why, "there is no such file");
  EXPECT_EQ(StoreRecorder::create(folder_, make_header("a")).error().code, Code::permission_denied);
  std::ofstream(folder_ / "plain") << "x";
  EXPECT_EQ(StoreRecorder::create(folder_ / "plain" / "x.sqlite", make_header("a")).error().code,
            Code::permission_denied);
  EXPECT_TRUE(StoreRecorder::create(folder_ / "new" / "folder" / "x.sqlite", make_header("a")));
}

TEST_F(StoreFailures, ALaterFormatIsRefused) {
  write_run(file_, "a");
  ASSERT_EQ(sql(file_, "PRAGMA user_version = 2"), "");
  const auto later = Store::open(file_);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, Code::unsupported);
  EXPECT_EQ(later.error().why, "it has format 2, and this evener knows formats up to 1");
}

TEST_F(StoreFailures, ForeignTablesViewsAndTriggersAreRefused) {
  for (const char* change : {"CREATE TABLE more (x)", "DROP TRIGGER requests_UPDATE",
                             "CREATE TRIGGER t BEFORE INSERT ON runs BEGIN SELECT 1; END",
                             "ALTER TABLE findings ADD COLUMN x TEXT"}) {
    std::filesystem::remove(file_);
    write_run(file_, "a");
    ASSERT_EQ(sql(file_, change), "");
    const auto store = Store::open(file_);
    ASSERT_FALSE(store) << change;
    EXPECT_EQ(store.error().code, Code::corrupt);
  }
  std::filesystem::remove(file_);
  write_run(file_, "a");
  ASSERT_EQ(sql(file_, "ANALYZE"), "");
  EXPECT_TRUE(Store::open(file_)) << "SQLite's own tables are none of ours";
}

TEST_F(StoreFailures, WrongValuesAreNamedByTableRowAndColumn) {
  const std::vector<std::array<const char*, 3>> changes = {
      {"requests", "sent_ns = 9000000000000000000", "column 'sent_ns'"},
      {"requests", "finish = 'done'", "column 'finish': 'done' is none of its words"},
      {"requests", "prompt_hash = 'xyz'", "column 'prompt_hash'"},
      {"requests", "http_status = -3000000000", "column 'http_status'"},
      {"requests", "num_tokens_in = -1", "column 'num_tokens_in'"},
      {"requests", "events = x'02'", "unknown format"},
      {"requests", "events = x'01ffffffffffffffffffff'", "event 0 is broken"},
      {"requests", "events = zeroblob(70000000)", "64 MiB"},
      {"requests", "num_events = 4", "column 'num_events' says 4, column 'events' holds 3"},
      {"cells", "target = '{\"a\": 1}'", "'a' is a number, expected a text"},
      {"cells", "target = '['", "table cells, row 1"},
      {"runs", "caliber = '{}'", "column 'caliber_digest'"},
      {"run_ends", "state = 'gone'", "column 'state'"},
  };
  for (const auto& [table, change, words] : changes) {
    std::filesystem::remove(file_);
    write_run(file_, "a");
    tamper(file_, table, std::string("UPDATE ") + table + " SET " + change);
    auto store = Store::open(file_);
    ASSERT_TRUE(store) << change << to_string(store.error());
    const auto run = store->load("a");
    ASSERT_FALSE(run) << change;
    EXPECT_THAT(to_string(run.error()), HasSubstr(words)) << change;
    EXPECT_THAT(to_string(run.error()), HasSubstr(file_.string())) << change;
  }
}

// Method: every page of the file overwritten in turn. Whatever SQLite makes of it, nothing crashes.
TEST_F(StoreFailures, DamagedPagesAreErrorsOrHarmless) {
  write_run(file_, "a");
  std::ifstream whole(file_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)),
                          std::istreambuf_iterator<char>());
  constexpr size_t kPage = 4096;
  ASSERT_GT(bytes.size(), 10 * kPage);
  int num_errors = 0;
  for (size_t page = 0; page < bytes.size(); page += kPage) {
    std::string damaged = bytes;
    for (size_t i = 0; i < kPage; i += 3) damaged[page + i] = char(damaged[page + i] ^ 0x5a);
    const auto copy = folder_ / "damaged.sqlite";
    std::ofstream(copy, std::ios::binary) << damaged;
    auto store = Store::open(copy);
    if (!store || !store->load("a") || !store->figures("a")) ++num_errors;
  }
  EXPECT_GE(num_errors, 5);
}

// Method: a folder without the right to write, read by a child that is not root.
TEST_F(StoreFailures, AStoreOnAMediumThatCannotBeWrittenIsRead) {
  using std::filesystem::perms;
  write_run(file_, "a");
  std::filesystem::permissions(file_, perms(0444));
  std::filesystem::permissions(folder_, perms(0555));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65'534;
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(1);
    auto store = Store::open(file_);
    _exit(store && store->load("a") ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::filesystem::permissions(folder_, perms::owner_all);
}

}  // namespace
}  // namespace evener::bench
