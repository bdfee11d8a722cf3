#include "bench/cell_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <thread>

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{20};           // how often an interrupt is looked for
constexpr uint64_t kContextUnknown = 4096;  // what any server has
constexpr uint64_t kContextSpare = 16;      // servers keep a few tokens for themselves

// A record that comes from another thread.
class Pending {
 public:
  void set(RequestRecord record) {
    const std::lock_guard lock(mutex_);
    record_ = std::move(record);
    came_.notify_all();
  }
  // Null until it came, after `patience` at the latest.
  std::optional<RequestRecord> take(milliseconds patience) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, patience, [this] { return record_.has_value(); });
    return std::move(record_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<RequestRecord> record_;
};

// The client calls on_end exactly once, also after a cancel, and before its end.
RequestRecord ask_until_stopped(const Bench& bench, RequestPlan plan) {
  Pending pending;
  Observer observer;
  observer.on_end = [&pending](RequestRecord record) { pending.set(std::move(record)); };
  const Client::RequestNumber number = bench.client->start(std::move(plan), std::move(observer));
  bool cancelled = false;
  for (;;) {
    if (auto record = pending.take(kLook)) return *std::move(record);
    if (bench.stop && !cancelled) bench.client->cancel(number);
    cancelled = bench.stop;
  }
}

bool nothing_answered(const std::vector<RequestRecord>& requests) {
  return !requests.empty() && std::ranges::all_of(requests, [](const RequestRecord& record) {
    return record.fault == Fault::server_down;
  });
}

}  // namespace

CellRunner::CellRunner(Bench& bench, CellPlan plan)
    : bench_(bench), plan_(std::move(plan)), clocks_(read_clocks()) {
  cell_.key = fmt::format("{}/{}/{}", plan_.experiment, plan_.point, plan_.round);
  cell_.experiment = plan_.experiment;
  cell_.target = plan_.target;
  cell_.round = plan_.round;
  cell_.began = bench_.recorder.now();
}

void CellRunner::warm_up(RequestPlan plan) {
  plan.excluded = true;
  plan.label = "warm-up";
  ask(std::move(plan));
  wait(bench_, bench_.options.idle);
}

void CellRunner::flush() {
  if (bench_.options.allow_cached || !bench_.server->facts().has_flush) return;
  const Status flushed = bench_.server->flush_cache();
  if (flushed) return;
  finding(Fault::cold_unproven, Severity::warning,
          "the cache was not flushed: " + flushed.error().why);
}

RequestPlan CellRunner::in_cell(RequestPlan plan) const {
  plan.cell = cell_.key;
  return plan;
}

RequestRecord CellRunner::ask(RequestPlan plan) {
  RequestRecord record = ask_until_stopped(bench_, in_cell(std::move(plan)));
  keep(record);
  return record;
}

void CellRunner::keep(RequestRecord record) {
  bench_.recorder.request(record);
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(record));
}

void CellRunner::value(const std::string& key, const std::string& unit, double value) {
  bench_.recorder.value(
      {.cell = cell_.key, .key = key, .unit = unit, .value = value, .at = bench_.recorder.now()});
}

void CellRunner::finding(Fault fault, Severity severity, const std::string& detail,
                         const std::string& request) {
  Finding finding{.fault = fault,
                  .severity = severity,
                  .cell = cell_.key,
                  .request = request,
                  .detail = detail};
  bench_.recorder.finding(finding);
  const std::lock_guard lock(mutex_);
  findings_.push_back(std::move(finding));
}

Status CellRunner::end() {
  cell_.ended = bench_.recorder.now();
  const auto keep_finding = [this](const Finding& found) {
    finding(found.fault, found.severity, found.detail, found.request);
  };
  for (const Finding& found : check_cell(cell_, requests_, plan_.expected)) keep_finding(found);
  if (const auto jump = check_clocks(clocks_, read_clocks())) keep_finding(*jump);
  cell_.state = settle(bench_.stop ? CellState::partial : CellState::complete, findings_);
  RETURN_IF_ERROR(bench_.recorder.end_cell(cell_));
  if (!nothing_answered(requests_)) return {};
  return Error{.code = Code::unavailable,
               .doing = fmt::format("measure {}", cell_.key),
               .where = bench_.client->target().url,
               .why = requests_.back().error,
               .remedy = "what was measured until then is kept; start the server again"};
}

RequestPlan speed_request(const Bench& bench, const std::string& label, std::string message,
                          uint64_t num_tokens_in) {
  RequestPlan plan;
  plan.label = label;
  plan.messages = {{.role = "user", .content = std::move(message)}};
  plan.num_tokens_in_wanted = static_cast<uint32_t>(num_tokens_in);
  plan.max_tokens = bench.options.num_tokens_out;
  plan.force_length = true;
  plan.seed = bench.options.seed;
  plan.timeout = bench.options.timeout;
  return plan;
}

Expectations speed_expectations(const Bench& bench) {
  Expectations expected;
  expected.cold = !bench.options.allow_cached;
  expected.forced_length = true;
  expected.exact_prompts = bench.server->facts().has_tokenize;
  expected.num_samples_min = 1;
  return expected;
}

TextKind text_kind(const Bench& bench) {
  return bench.server->facts().ignores_eos ? TextKind::prose : TextKind::counting;
}

uint64_t prompt_tokens_max(const ServerFacts& server, uint64_t num_tokens_out) {
  const uint64_t context = server.context_tokens.value_or(kContextUnknown);
  const uint64_t taken = num_tokens_out + kContextSpare;
  return context > taken ? context - taken : 0;
}

void wait(const Bench& bench, std::chrono::duration<double> time) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  while (!bench.stop) {
    const auto left = end - Clock::now();
    if (left <= Clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, kLook));
  }
}

}  // namespace evener::bench
