#include <gtest/gtest.h>

#include "bench/checks.h"
#include "bench/checks/records.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

Expectations strict() {
  Expectations expected;
  expected.cold = true;
  expected.forced_length = true;
  return expected;
}

const Expectations kStrict = strict();

CellRecord a_cell() {
  CellRecord cell;
  cell.key = "cell";
  cell.experiment = "sweep";
  return cell;
}

const CellRecord kCell = a_cell();

std::vector<RequestRecord> good_records(size_t num) {
  return std::vector<RequestRecord>(num, good_record());
}

Expectations in_flight(double wanted, double seen) {
  Expectations expected;
  expected.in_flight_wanted = wanted;
  expected.in_flight_seen = seen;
  return expected;
}

TEST(CellCheck, FindsNothingInACellWithoutFault) {
  EXPECT_TRUE(check_cell(kCell, good_records(3), kStrict).empty());
}

TEST(CellCheck, VoidsAMedianAnswerOfLessThanNineTenthsOfTheForcedLength) {
  std::vector<RequestRecord> records(3, good_record(62));
  for (auto& record : records) record.num_tokens_out_wanted = 69;
  const auto findings = check_cell(kCell, records, kStrict);
  EXPECT_EQ(findings.back().fault, Fault::early_end);
  EXPECT_EQ(findings.back().severity, Severity::voids);
  EXPECT_EQ(findings.back().detail, "the median answer has 62 tokens, 89.9 % of what was asked");
  EXPECT_EQ(settle(CellState::complete, findings), CellState::voided);
}

TEST(CellCheck, KeepsAMedianAnswerOfNineTenths) {
  auto records = good_records(3);
  for (auto& record : records) record.num_tokens_out_wanted = 71;  // 90.1 %
  records[0].num_tokens_out_wanted = 640;
  const auto findings = check_cell(kCell, records, kStrict);
  EXPECT_NE(find(findings, Fault::early_end), nullptr);  // of the requests
  EXPECT_EQ(settle(CellState::complete, findings), CellState::complete);
}

TEST(CellCheck, VoidsWhenMoreThanATenthFailed) {
  auto records = good_records(19);
  for (const size_t i : {size_t{3}, size_t{5}}) {
    records[i].finish = Finish::error;
    records[i].fault = Fault::reset;
  }
  const auto findings = check_cell(kCell, records, kStrict);
  EXPECT_EQ(findings.back().fault, Fault::reset);
  EXPECT_EQ(findings.back().severity, Severity::voids);
  EXPECT_EQ(findings.back().detail, "2 of 19 requests failed");

  records.push_back(good_record());
  EXPECT_EQ(settle(CellState::complete, check_cell(kCell, records, kStrict)), CellState::complete);
}

TEST(CellCheck, VoidsAnOpenLoopWhoseSenderWasLate) {
  auto records = good_records(3);
  for (auto& record : records) record.scheduled = record.sent - 100us;
  records[1].scheduled =
      records[1].sent - 1001us;  // 1 % of the gaps of 10 ms is less than a timer's
  const auto findings = check_cell(kCell, records, kStrict);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fault, Fault::sender_late);
  EXPECT_EQ(findings[0].severity, Severity::voids);

  records[1].scheduled = records[1].sent - 1ms;
  EXPECT_TRUE(check_cell(kCell, records, kStrict).empty());
}

TEST(CellCheck, LetsASenderBeLateByAHundredthOfLongGaps) {
  auto records = good_records(3);
  for (auto& record : records) {
    for (size_t i = 0; i < record.events.size(); ++i) record.events[i].at = 2s + i * 300ms;
    record.scheduled = record.sent - 3ms;
  }
  EXPECT_TRUE(check_cell(kCell, records, kStrict).empty());
  records[0].scheduled = records[0].sent - 3001us;
  EXPECT_NE(find(check_cell(kCell, records, kStrict), Fault::sender_late), nullptr);
}

TEST(CellCheck, LooksAtTheP99OfManyLags) {
  auto records = good_records(100);
  for (auto& record : records) record.scheduled = record.sent;
  records[7].scheduled = records[7].sent - 50ms;  // one in a hundred
  EXPECT_TRUE(check_cell(kCell, records, kStrict).empty());
  records[8].scheduled = records[8].sent - 50ms;
  EXPECT_NE(find(check_cell(kCell, records, kStrict), Fault::sender_late), nullptr);
}

TEST(CellCheck, VoidsAConcurrencyMissedByMoreThanATwentieth) {
  const auto findings = check_cell(kCell, good_records(3), in_flight(4, 3.79));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fault, Fault::concurrency_missed);
  EXPECT_EQ(findings[0].severity, Severity::voids);
  EXPECT_EQ(findings[0].detail, "3.79 requests in flight on average, 4 were asked for");
  EXPECT_TRUE(check_cell(kCell, good_records(3), in_flight(4, 3.81)).empty());
}

TEST(CellCheck, AsksForThreeAnswersAndAHundredForATail) {
  auto findings = check_cell(kCell, good_records(2), kStrict);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fault, Fault::too_few_samples);
  EXPECT_EQ(findings[0].severity, Severity::warning);

  Expectations expected;
  expected.percentiles = true;
  findings = check_cell(kCell, good_records(99), expected);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fault, Fault::too_few_samples);
  EXPECT_EQ(findings[0].severity, Severity::note);
  EXPECT_TRUE(check_cell(kCell, good_records(100), expected).empty());
}

TEST(CellCheck, DoesNotRepeatOneThingAHundredTimes) {
  auto records = good_records(100);
  for (auto& record : records) record.num_tokens_cached = 77;
  records[0].num_tokens_cached = 78;
  const auto findings = check_cell(kCell, records, kStrict);
  ASSERT_EQ(findings.size(), 2);
  EXPECT_EQ(findings[0].detail, "78 of 100 prompt tokens were known from before");
  EXPECT_EQ(findings[0].request, "user 1");
  EXPECT_EQ(findings[1].detail, "77 of 100 prompt tokens were known from before (99 requests)");
  EXPECT_EQ(findings[1].request, "");
}

TEST(CellCheck, TellsFiveOfManyThingsOfOneKind) {
  auto records = good_records(60);
  for (size_t i = 0; i < 60; ++i) records[i].num_tokens_cached = 33 + i % 20;
  const auto findings = check_cell(kCell, records, kStrict);
  ASSERT_EQ(findings.size(), 6);
  EXPECT_EQ(findings[4].detail, "37 of 100 prompt tokens were known from before (3 requests)");
  EXPECT_EQ(findings[5].detail, "and 45 more requests");
  EXPECT_EQ(findings[5].severity, Severity::voids);
  EXPECT_EQ(findings[5].fault, Fault::cached_prompt);
}

TEST(CellCheck, LeavesOutWarmUpsAndOtherCells) {
  auto records = good_records(5);
  records[0].excluded = true;
  records[0].num_tokens_cached = 77;
  records[1].cell = "another";
  records[1].num_tokens_cached = 77;
  EXPECT_TRUE(check_cell(kCell, records, kStrict).empty());
}

TEST(CellCheck, NamesTheFailureOfAWarmUp) {
  auto records = good_records(4);
  records[0].excluded = true;
  records[0].finish = Finish::error;
  records[0].fault = Fault::http_error;
  const auto findings = check_cell(kCell, records, kStrict);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fault, Fault::http_error);
  EXPECT_EQ(findings[0].severity, Severity::warning);
}

TEST(Settle, LeavesAPartialCellPartial) {
  Finding voids;
  voids.severity = Severity::voids;
  EXPECT_EQ(settle(CellState::partial, {&voids, 1}), CellState::partial);
  EXPECT_EQ(settle(CellState::complete, {}), CellState::complete);
}

}  // namespace
}  // namespace evener::bench
