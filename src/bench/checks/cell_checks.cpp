#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "bench/checks.h"
#include "bench/statistics.h"

namespace evener::bench {
namespace {

constexpr size_t kFindingsOfOneFault = 5;
constexpr double kLengthKept = 0.9;
constexpr double kFailuresMax = 0.1;
constexpr double kLagMaxMs = 5;
constexpr double kLagOfTimerMs = 1;
constexpr double kLagOfGap = 0.01;
constexpr double kInFlightOff = 0.05;
constexpr size_t kSamplesForP99 = 100;

struct Judged {
  const CellRecord& cell;
  std::vector<const RequestRecord*> counted;  // neither excluded nor cancelled
  const Expectations& expected;
  std::vector<Finding>& findings;

  void add(Fault fault, Severity severity, std::string detail) const {
    findings.push_back({.fault = fault,
                        .severity = severity,
                        .cell = cell.key,
                        .request = "",
                        .detail = std::move(detail)});
  }
};

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return percentile(values, 0.5);
}

// What is wrong with a request of the cell; of one that is excluded, its failure alone.
std::vector<Finding> request_findings(const RequestRecord& record, const Judged& j) {
  if (!record.excluded) return check_request(record, j.expected);
  if (!record.fault) return {};
  std::vector<Finding> found = check_request(record, {});
  std::erase_if(found, [&](const Finding& finding) { return finding.fault != *record.fault; });
  return found;
}

// Findings of all requests; those that say the same are one, with the number of requests.
struct Group {
  Finding finding;
  size_t num_requests = 1;
};

std::vector<Group> group_findings(std::span<const RequestRecord> requests, const Judged& j) {
  std::vector<Group> groups;
  std::map<std::pair<Fault, std::string>, size_t> known;  // to a place in groups
  for (const RequestRecord& record : requests) {
    if (record.cell != j.cell.key) continue;
    for (Finding& finding : request_findings(record, j)) {
      const auto [at, is_first] = known.try_emplace({finding.fault, finding.detail}, groups.size());
      if (is_first) {
        groups.push_back({.finding = std::move(finding)});
      } else {
        ++groups[at->second].num_requests;
      }
    }
  }
  return groups;
}

void add_requests(std::span<const RequestRecord> requests, const Judged& j) {
  struct More {
    size_t num_groups = 0;
    size_t num_requests = 0;  // of the groups that are not told
    Severity severity = Severity::note;
  };
  std::map<Fault, More> seen;
  for (Group& group : group_findings(requests, j)) {
    More& more = seen[group.finding.fault];
    if (++more.num_groups > kFindingsOfOneFault) {
      more.num_requests += group.num_requests;
      more.severity = std::max(more.severity, group.finding.severity);
      continue;
    }
    if (group.num_requests > 1) {
      group.finding.request.clear();
      group.finding.detail += fmt::format(" ({} requests)", group.num_requests);
    }
    j.findings.push_back(std::move(group.finding));
  }
  for (const auto& [fault, more] : seen) {
    if (more.num_requests == 0) continue;
    j.add(fault, more.severity, fmt::format("and {} more requests", more.num_requests));
  }
}

std::optional<Fault> failure_of(const RequestRecord& record) {
  if (record.fault) return record.fault;
  const bool is_silent = record.streamed || record.output_hash == 0;
  if (record.events.empty() && is_silent) return Fault::empty_answer;
  return std::nullopt;
}

void check_failures(const Judged& j) {
  std::map<Fault, size_t> failed;
  size_t num_failed = 0;
  for (const RequestRecord* record : j.counted) {
    const auto failure = failure_of(*record);
    if (!failure) continue;
    ++failed[*failure];
    ++num_failed;
  }
  if (double(num_failed) <= kFailuresMax * double(j.counted.size())) return;
  const auto most = std::ranges::max_element(
      failed, {}, [](const std::pair<const Fault, size_t>& entry) { return entry.second; });
  j.add(most->first, Severity::voids,
        fmt::format("{} of {} requests failed", num_failed, j.counted.size()));
}

void check_lengths(const Judged& j) {
  if (!j.expected.forced_length) return;
  std::vector<double> shares;
  std::vector<double> lengths;
  for (const RequestRecord* record : j.counted) {
    if (!record->num_tokens_out || record->num_tokens_out_wanted == 0) continue;
    lengths.push_back(double(*record->num_tokens_out));
    shares.push_back(lengths.back() / record->num_tokens_out_wanted);
  }
  if (shares.empty()) return;
  const double share = median(shares);
  if (share >= kLengthKept) return;
  j.add(Fault::early_end, Severity::voids,
        fmt::format("the median answer has {:.0f} tokens, {:.1f} % of what was asked",
                    median(lengths), share * 100));
}

void check_sender(const Judged& j) {
  std::vector<double> lags;
  std::vector<double> gaps;
  for (const RequestRecord* record : j.counted) {
    if (record->scheduled) lags.push_back(in_ms(record->sent - *record->scheduled));
    for (size_t i = 1; i < record->events.size(); ++i) {
      gaps.push_back(in_ms(record->events[i].at - record->events[i - 1].at));
    }
  }
  if (lags.empty()) return;
  std::sort(lags.begin(), lags.end());
  const double lag = lags.size() < kSamplesForP99 ? lags.back() : percentile(lags, 0.99);
  double limit = kLagMaxMs;
  if (!gaps.empty()) {
    limit = std::clamp(kLagOfGap * median(gaps), kLagOfTimerMs, kLagMaxMs);
  }
  if (lag <= limit) return;
  j.add(Fault::sender_late, Severity::voids,
        fmt::format("sent up to {:.2f} ms late, {:.2f} ms may be", lag, limit));
}

void check_concurrency(const Judged& j) {
  if (!j.expected.in_flight_wanted || !j.expected.in_flight_seen) return;
  const double wanted = *j.expected.in_flight_wanted;
  const double seen = *j.expected.in_flight_seen;
  if (std::abs(seen - wanted) <= kInFlightOff * wanted) return;
  j.add(Fault::concurrency_missed, Severity::voids,
        fmt::format("{:.2f} requests in flight on average, {:g} were asked for", seen, wanted));
}

void check_samples(const Judged& j) {
  const auto num_answers = size_t(
      std::ranges::count_if(j.counted, [](const RequestRecord* r) { return !failure_of(*r); }));
  if (num_answers < j.expected.num_samples_min) {
    j.add(
        Fault::too_few_samples, Severity::warning,
        fmt::format("{} answers, at least {} are needed", num_answers, j.expected.num_samples_min));
  } else if (j.expected.percentiles && num_answers < kSamplesForP99) {
    j.add(Fault::too_few_samples, Severity::note,
          fmt::format("{} answers: no 99th percentile below {}", num_answers, kSamplesForP99));
  }
}

}  // namespace

std::vector<Finding> check_cell(const CellRecord& cell, std::span<const RequestRecord> requests,
                                const Expectations& expected) {
  std::vector<Finding> findings;
  Judged judged{cell, {}, expected, findings};
  for (const RequestRecord& record : requests) {
    const bool counts = !record.excluded && record.finish != Finish::cancelled;
    if (counts && record.cell == cell.key) judged.counted.push_back(&record);
  }
  add_requests(requests, judged);
  check_failures(judged);
  check_lengths(judged);
  check_sender(judged);
  check_concurrency(judged);
  check_samples(judged);
  return findings;
}

CellState settle(CellState state, std::span<const Finding> findings) {
  const bool voids = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::voids; });
  return state == CellState::complete && voids ? CellState::voided : state;
}

}  // namespace evener::bench
