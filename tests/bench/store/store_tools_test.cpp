#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "bench/export.h"
#include "bench/merge.h"
#include "bench/store/store_fixture.h"
#include "bench/verify.h"

namespace evener::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreTools : public StoreTest {
 protected:
  std::vector<std::string> verify(const std::string& id) {
    auto store = Store::open(file_);
    if (!store) return {to_string(store.error())};
    const auto run = store->load(id);
    const auto figures = store->figures(id);
    if (!run || !figures) return {"cannot be read"};
    return verify_figures(*run, *figures);
  }
};

TEST_F(StoreTools, VerifyFindsARequestThatWasChanged) {
  write_run(file_, "a");
  EXPECT_THAT(verify("a"), IsEmpty());
  tamper(file_, "requests", "UPDATE requests SET sent_ns = sent_ns + 50000000 WHERE number = 2");
  EXPECT_THAT(verify("a"), Not(IsEmpty()));
  EXPECT_THAT(verify("a").front(), HasSubstr("cell sweep/100/1, "));
}

TEST_F(StoreTools, VerifyFindsAFigureThatWasChanged) {
  write_run(file_, "a");
  tamper(file_, "figures", "UPDATE figures SET p50 = 1 WHERE key = 'ttft_ms'");
  EXPECT_THAT(verify("a"),
              ElementsAre("cell sweep/100/1, ttft_ms: p50 is stored as 1, the records give 110"));
}

TEST_F(StoreTools, VerifyFindsFiguresWithoutRecords) {
  write_run(file_, "a");
  sql(file_,
      "INSERT INTO figures SELECT run, 'none', key, n, mean, sd, min, p5, p50, p90, p95, "
      "p99, max, ci95_low, ci95_high FROM figures WHERE key = 'ttft_ms'");
  sql(file_,
      "INSERT INTO figures SELECT run, cell, 'more', n, mean, sd, min, p5, p50, p90, p95, "
      "p99, max, ci95_low, ci95_high FROM figures WHERE key = 'tpot_ms'");
  EXPECT_THAT(verify("a"),
              ElementsAre("cell sweep/100/1, more: one is stored, the records give none",
                          "cell none, figures: are stored of a cell that is not"));
}

TEST_F(StoreTools, MergeTakesEachRunOnce) {
  const auto other = folder_ / "other.sqlite";
  write_run(file_, "a");
  write_run(other, "a");
  write_run(other, "b");
  {
    ASSERT_TRUE(StoreRecorder::create(other, make_header("c")));
  }

  const auto merged = merge_stores(file_, other, Unfinished::leave);
  ASSERT_TRUE(merged) << to_string(merged.error());
  EXPECT_THAT(merged->added, ElementsAre("b"));
  EXPECT_THAT(merged->present, ElementsAre("a"));
  EXPECT_THAT(merged->unfinished, ElementsAre("c"));
  EXPECT_THAT(verify("b"), IsEmpty());
  auto store = Store::open(file_);
  auto source = Store::open(other);
  ASSERT_TRUE(store && source);
  EXPECT_EQ(store->load("b")->requests.size(), 3);
  EXPECT_EQ(store->load("b")->state, RunState::complete);
  EXPECT_EQ(*store->figures("b"), *source->figures("b"));

  EXPECT_THAT(merge_stores(file_, other, Unfinished::take)->added, ElementsAre("c"));
  EXPECT_EQ(Store::open(file_)->load("c")->state, RunState::unfinished);
}

TEST_F(StoreTools, MergeOfARunThatCannotBeReadAddsNothingOfIt) {
  const auto other = folder_ / "other.sqlite";
  write_run(other, "bad");
  tamper(other, "requests", "UPDATE requests SET events = x'09' WHERE number = 3");
  EXPECT_FALSE(merge_stores(file_, other, Unfinished::leave));
  EXPECT_EQ(Store::open(file_)->runs()->size(), 0);
}

TEST_F(StoreTools, MergeKeepsTheTraceOfAChange) {
  const auto other = folder_ / "other.sqlite";
  write_run(other, "a");
  tamper(other, "figures", "UPDATE figures SET p50 = 1 WHERE key = 'ttft_ms'");
  ASSERT_TRUE(merge_stores(file_, other, Unfinished::leave));
  EXPECT_THAT(verify("a"), Not(IsEmpty()));
}

// A reader must be able to work out the figures from the request lines alone.
TEST_F(StoreTools, ExportsLinesOfEachKind) {
  write_run(file_, "a");
  auto run = Store::open(file_)->load("a");
  ASSERT_TRUE(run);
  run->requests[0].text = "no text: \xff";
  run->findings.emplace_back().fault = Fault::stall;
  run->findings.back().detail = "one\ngap";
  run->telemetry.emplace_back().sample.host.load_average = 1.5;
  std::map<std::string, std::vector<json::Value>> lines;
  export_lines(*run, [&](std::string_view text) {
    EXPECT_EQ(text.find('\n'), std::string_view::npos);
    auto line = json::parse(text, "line");
    ASSERT_TRUE(line) << to_string(line.error());
    EXPECT_EQ((*line)["run"], "a");
    lines[(*line)["line"].get<std::string>()].push_back(*line);
  });
  ASSERT_EQ(lines["header"].size(), 1);
  EXPECT_EQ(lines["header"][0]["started"], "2026-09-21T14:13:20Z");
  EXPECT_EQ(lines["header"][0]["caliber"]["server.version"], "0.1.0");
  ASSERT_EQ(lines["request"].size(), 3);
  const json::Value& request = lines["request"][1];
  EXPECT_EQ(request["events"][2], json::Value({140'000'000, 1, 4, "content"}));
  EXPECT_EQ(request["num_tokens_in"], 100);
  EXPECT_EQ(request["scheduled_ns"], nullptr);
  ASSERT_EQ(lines["cell"].size(), 1);
  const json::Value& cell = lines["cell"][0];
  EXPECT_EQ(cell["num_requests"]["length"], 3);
  EXPECT_EQ(cell["figures"]["ttft_ms"]["p50"], 110.0);
  EXPECT_EQ(cell["figures"]["ttft_ms"]["ci95"], json::Value({100.0, 120.0}));
  EXPECT_EQ(cell["figures"]["ttft_ms"]["unit"], "ms");
  EXPECT_EQ(lines["value"][0]["value"], 0.5);
  EXPECT_EQ(lines["telemetry"][0]["host"]["load_average"], 1.5);
  EXPECT_EQ(lines["finding"][0]["fault"], "stall");
}

}  // namespace
}  // namespace evener::bench
