#include "bench/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/store/request_columns.h"
#include "bench/store/store_fixture.h"

namespace evener::bench {
namespace {

using testing::HasSubstr;

class ResultStore : public StoreTest {};

RequestRecord full_record() {
  RequestRecord r = make_record("sweep/100/1", 5, {100, 100, 90, 4000});
  r.label = "user 3, turn 2";
  r.excluded = true;
  r.attempt = 2;
  r.prompt_hash = 0xfedcba9876543210;
  r.num_tokens_in_wanted = 100;
  r.num_tokens_out_wanted = 4;
  r.streamed = false;
  r.scheduled = at_ms(-3);
  r.num_empty_events = 7;
  r.request_id = std::string("id with a \0 byte", 16);
  r.finish = Finish::timeout;
  r.fault = Fault::timed_out;
  r.error = "bytes that are no text: \xff\xfe";
  r.num_malformed_events = 3;
  r.usage_disagreed = true;
  r.num_tokens_reasoning = 2;
  r.server = {.queue_ms = 0.5,
              .prefill_ms = 1e-300,
              .decode_ms = std::nullopt,
              .gap_max_ms = 4,
              .num_drafted = 9,
              .num_accepted = 8};
  r.output_hash = 1;
  r.text = "answer";
  r.tool_calls = "[]";
  r.events[0].channel = Channel::reasoning;
  r.events[1].channel = Channel::tool;
  r.events[2].num_tokens = std::numeric_limits<uint32_t>::max();
  r.events[3].num_bytes = 0;
  return r;
}

// Equal in every column that is stored, by the list that the store itself walks, and in the events.
void expect_same(const RequestRecord& a, const RequestRecord& b) {
  EXPECT_EQ(a.cell, b.cell);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.excluded, b.excluded);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.prompt_hash, b.prompt_hash);
  EXPECT_EQ(a.num_tokens_in_wanted, b.num_tokens_in_wanted);
  EXPECT_EQ(a.num_tokens_out_wanted, b.num_tokens_out_wanted);
  EXPECT_EQ(a.streamed, b.streamed);
  EXPECT_EQ(a.scheduled, b.scheduled);
  EXPECT_EQ(a.sent, b.sent);
  EXPECT_EQ(a.header, b.header);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.ended, b.ended);
  EXPECT_EQ(a.http_status, b.http_status);
  EXPECT_EQ(a.num_empty_events, b.num_empty_events);
  EXPECT_EQ(a.done_seen, b.done_seen);
  EXPECT_EQ(a.request_id, b.request_id);
  EXPECT_EQ(a.finish, b.finish);
  EXPECT_EQ(a.fault, b.fault);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.num_malformed_events, b.num_malformed_events);
  EXPECT_EQ(a.usage_disagreed, b.usage_disagreed);
  EXPECT_EQ(a.num_tokens_in, b.num_tokens_in);
  EXPECT_EQ(a.num_tokens_cached, b.num_tokens_cached);
  EXPECT_EQ(a.num_tokens_out, b.num_tokens_out);
  EXPECT_EQ(a.num_tokens_reasoning, b.num_tokens_reasoning);
  EXPECT_EQ(a.server, b.server);
  EXPECT_EQ(a.output_hash, b.output_hash);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.tool_calls, b.tool_calls);
}

telemetry::Sample full_sample(Clock::time_point at) {
  telemetry::Sample sample;
  sample.at = at;
  sample.host.cpu_mhz_mean = 3000.5;
  sample.host.throttle_count = 12;
  sample.host.cpus_stolen = 0.25;
  telemetry::CardReading card;
  card.bus = "0000:03:00.0";
  card.name = "Radeon";
  card.power_w = 300;
  card.memory_used_bytes = uint64_t{20} << 30;
  card.link_width = 16;
  card.throttle = {"thermal", "power"};
  sample.cards.push_back(card);
  return sample;
}

TEST_F(ResultStore, GivesBackARunAsItWasRecorded) {
  Clock::time_point start;
  {
    auto recorder = StoreRecorder::create(file_, make_header("20261130-142231-3fa9"));
    ASSERT_TRUE(recorder) << to_string(recorder.error());
    start = (*recorder)->start();
    (*recorder)->request(full_record());
    (*recorder)->request(make_record("sweep/100/1", 10, {}));
    (*recorder)->value(
        {.cell = "sweep/100/1", .key = "k", .unit = "GB/s", .value = 1.5, .at = at_ms(3)});
    (*recorder)->value(
        {.cell = "", .key = "nan", .unit = "", .value = std::numeric_limits<double>::quiet_NaN()});
    (*recorder)->finding({.fault = Fault::early_end,
                          .severity = Severity::voids,
                          .cell = "sweep/100/1",
                          .request = "user 3",
                          .detail = "answered 12 of 256 tokens"});
    (*recorder)->telemetry(full_sample(start + at_ms(250)));
    CellRecord cell = make_cell("sweep/100/1");
    cell.state = CellState::voided;
    ASSERT_TRUE((*recorder)->end_cell(cell));
    ASSERT_TRUE((*recorder)->finish(RunState::interrupted));
  }
  auto store = Store::open(file_);
  ASSERT_TRUE(store) << to_string(store.error());
  const auto run = store->load("20261130-142231-3fa9");
  ASSERT_TRUE(run) << to_string(run.error());
  const RunHeader header = make_header("20261130-142231-3fa9");
  EXPECT_EQ(run->header.id, header.id);
  EXPECT_EQ(run->header.name, header.name);
  EXPECT_EQ(run->header.note, header.note);
  EXPECT_EQ(run->header.started, header.started);
  EXPECT_EQ(run->header.caliber, header.caliber);
  EXPECT_EQ(run->state, RunState::interrupted);
  ASSERT_EQ(run->requests.size(), 2);
  expect_same(run->requests[0], full_record());
  expect_same(run->requests[1], make_record("sweep/100/1", 10, {}));
  ASSERT_EQ(run->values.size(), 2);
  EXPECT_EQ(run->values[0].unit, "GB/s");
  EXPECT_EQ(run->values[0].value, 1.5);
  EXPECT_EQ(run->values[0].at, at_ms(3));
  EXPECT_TRUE(std::isnan(run->values[1].value));
  ASSERT_EQ(run->findings.size(), 1);
  EXPECT_EQ(run->findings[0].fault, Fault::early_end);
  EXPECT_EQ(run->findings[0].severity, Severity::voids);
  EXPECT_EQ(run->findings[0].detail, "answered 12 of 256 tokens");
  ASSERT_EQ(run->telemetry.size(), 1);
  EXPECT_EQ(run->telemetry[0].at, at_ms(250));
  const telemetry::Sample& sample = run->telemetry[0].sample;
  EXPECT_EQ(sample.host.cpu_mhz_mean, 3000.5);
  EXPECT_EQ(sample.host.throttle_count, 12);
  EXPECT_EQ(sample.host.cpus_stolen, 0.25);
  EXPECT_EQ(sample.host.cpu_celsius, std::nullopt);
  ASSERT_EQ(sample.cards.size(), 1);
  EXPECT_EQ(sample.cards[0].memory_used_bytes, uint64_t{20} << 30);
  EXPECT_EQ(sample.cards[0].link_width, 16);
  EXPECT_EQ(sample.cards[0].throttle, (std::vector<std::string>{"thermal", "power"}));
  ASSERT_EQ(run->cells.size(), 1);
  EXPECT_EQ(run->cells[0].target, make_cell("").target);
  EXPECT_EQ(run->cells[0].state, CellState::voided);
}

TEST_F(ResultStore, StoresTheFiguresOfACell) {
  write_run(file_, "a");
  auto store = Store::open(file_);
  ASSERT_TRUE(store);
  const auto figures = store->figures("a");
  ASSERT_TRUE(figures);
  const auto run = store->load("a");
  ASSERT_TRUE(run);
  const CellFigures& of_cell = figures->at("sweep/100/1");
  EXPECT_EQ(of_cell.at("ttft_ms").p50, 110);
  EXPECT_EQ(of_cell.at("score").p50, 0.5);
  EXPECT_EQ(of_cell, cell_figures(run->cells[0], run->requests, run->values));
}

TEST_F(ResultStore, ForbidsChangesAndRemovals) {
  write_run(file_, "a");
  for (const char* table : {"runs", "run_ends", "cells", "requests", "cell_values", "figures"}) {
    EXPECT_THAT(sql(file_, std::string("DELETE FROM ") + table), HasSubstr("only added to"));
    EXPECT_THAT(sql(file_, std::string("UPDATE ") + table + " SET rowid = 77"),
                HasSubstr("only added to"));
  }
}

TEST_F(ResultStore, ListsRunsAndFindsThemByTheBeginningOfTheirId) {
  for (const char* id : {"20261130-1", "20261130-2", "20261201-1"}) {
    RunHeader header = make_header(id);
    if (std::string_view(id) == "20261130-2") header.started += std::chrono::hours(1);
    auto recorder = StoreRecorder::create(file_, header);
    ASSERT_TRUE(recorder);
  }
  auto store = Store::open(file_);
  ASSERT_TRUE(store);
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 3);
  EXPECT_EQ(runs->front().header.id, "20261130-2");
  EXPECT_EQ(runs->front().state, RunState::unfinished);
  EXPECT_EQ(*store->find("last"), "20261130-2");
  EXPECT_EQ(*store->find("20261201"), "20261201-1");
  EXPECT_EQ(*store->find("20261130-1"), "20261130-1");
  const auto both = store->find("20261130");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, Code::invalid_argument);
  EXPECT_EQ(both.error().why, "2 ids begin so: 20261130-2, 20261130-1");
  EXPECT_EQ(store->find("2027").error().code, Code::not_found);
  EXPECT_EQ(store->load("2027").error().code, Code::not_found);
}

TEST_F(ResultStore, RefusesAnIdThatIsTaken) {
  write_run(file_, "a");
  const auto again = StoreRecorder::create(file_, make_header("a"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::invalid_argument);
  EXPECT_EQ(again.error().why, "it has a run 'a'");
}

TEST(RunId, IsATimeAndARandomPart) {
  const std::string id =
      make_run_id(std::chrono::system_clock::time_point(std::chrono::seconds(1'796'048'551)));
  EXPECT_EQ(id.size(), 20);
  EXPECT_EQ(id.substr(0, 16), "20261130-142231-");
}

}  // namespace
}  // namespace evener::bench
