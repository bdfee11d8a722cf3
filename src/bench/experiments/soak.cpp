// Hours of mixed work: does the server keep its speed, answer every request and stay in its memory.
// A tenth of the time is a cell, so that an interrupt loses a tenth at most.
// Source: reference/serving/bench.md, 4 and 7.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/slope.h"
#include "bench/load.h"
#include "bench/metrics.h"
#include "bench/statistics.h"

namespace evener::bench {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr uint32_t kNumWindows = 10;
constexpr double kRetentionMin = 0.97;
constexpr double kGrowthMin = 0.01;
constexpr double kGrowthBytesMin = 16 << 20;
constexpr size_t kLooksMin = 10;  // at the memory
constexpr uint64_t kShortTokens = 128;
constexpr uint64_t kLongTokensMax = 8192;
constexpr uint32_t kLongAnswerTokens = 64;
constexpr unsigned kLongPercent = 20;

class Soak {
 public:
  explicit Soak(Bench& bench) : bench_(bench), random_(bench.options.seed) {
    const uint64_t most = prompt_tokens_max(bench, bench.options.num_tokens_out);
    long_tokens_ = std::clamp<uint64_t>(most / 2, kShortTokens, kLongTokensMax);
  }

  Status run() {
    for (uint32_t window = 1; window <= kNumWindows && !bench_.stop; ++window)
      RETURN_IF_ERROR(run_window(window));
    return summarise_all();
  }

 private:
  Seconds window_time() const { return bench_.options.soak.time / kNumWindows; }

  CellPlan cell_of(const std::string& key, const std::string& value) const {
    CellPlan plan;
    plan.experiment = "soak";
    plan.point = value;
    plan.target = {{key, value}};
    plan.expected.exact_prompts = bench_.server->facts().has_tokenize;
    return plan;
  }

  Status run_window(uint32_t window) {
    CellRunner cell(bench_, cell_of("window", std::to_string(window)));
    cell.expected().judge_stalls = false;  // long prompts come between
    cell.expected().num_samples_min = 1;
    if (window == 1) {
      ASSIGN_OR_RETURN(RequestPlan plan, request());
      cell.warm_up(std::move(plan));
    }
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(window_time());
    failed_ = {};
    look_at_memory(cell, window);
    const NextPlan next = [&](uint32_t user) { return next_plan(cell, window, user, end); };
    run_closed_loop(
        *bench_.client, bench_.options.soak.num_users, next,
        [&cell](RequestRecord record) { cell.keep(std::move(record)); }, bench_.stop);
    look_at_memory(cell, window);
    if (!failed_) {
      const Status ended = cell.end();
      return ended ? failed_ : ended;
    }
    judge_window(cell, window);
    return cell.end();
  }

  std::optional<RequestPlan> next_plan(CellRunner& cell, uint32_t window, uint32_t user,
                                       Clock::time_point end) {
    const Clock::time_point now = Clock::now();
    if (now >= end || bench_.stop || !failed_) return std::nullopt;
    const double done = 1 - Seconds(end - now) / window_time();
    bench_.progress(
        fmt::format("soak, tenth {} of {}, {} empty answers", window, kNumWindows, num_empty_),
        (window - 1 + done) / kNumWindows);
    if (now >= next_look_) look_at_memory(cell, window);
    auto plan = request();
    if (!plan) {
      failed_ = plan.error();
      return std::nullopt;
    }
    plan->label = fmt::format("user {}, {}", user + 1, plan->label);
    return cell.in_cell(*std::move(plan));
  }

  Result<RequestPlan> request() {
    constexpr std::array kKinds = {TextKind::prose, TextKind::code, TextKind::counting};
    const bool is_long = random_() % 100 < kLongPercent;
    const uint64_t length = is_long ? long_tokens_ : kShortTokens;
    ASSIGN_OR_RETURN(std::string message,
                     bench_.prompts->cold(kKinds[random_() % kKinds.size()], length));
    RequestPlan plan =
        speed_request(bench_, is_long ? "long" : "short", std::move(message), length);
    if (is_long) plan.max_tokens = std::min(plan.max_tokens, kLongAnswerTokens);
    return plan;
  }

  void look_at_memory(CellRunner& cell, uint32_t window) {
    next_look_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(window_time() / 20);
    const auto bytes = bench_.server->resident_bytes();
    if (!bytes) return;
    cell.value("server_memory_bytes", "B", double(*bytes));
    // The first tenth fills pools and caches.
    if (window == 1) return;
    memory_hours_.push_back(Seconds(bench_.recorder.now()).count() / 3600);
    memory_bytes_.push_back(double(*bytes));
  }

  void judge_window(const CellRunner& cell, uint32_t window) {
    std::vector<double> speeds;
    for (const RequestRecord& record : cell.requests()) {
      if (record.excluded) continue;
      const bool ended_well = record.finish == Finish::stop || record.finish == Finish::length;
      if (ended_well && record.events.empty()) ++num_empty_;
      const auto figures = request_figures(record);
      const auto speed = figures.find("decode_whole_tokens_per_s");
      if (speed != figures.end() && record.label.ends_with("short"))
        speeds.push_back(speed->second);
    }
    if (window == 1) first_speeds_ = speeds;
    if (window == kNumWindows) last_speeds_ = std::move(speeds);
  }

  Status summarise_all() {
    CellRunner cell(bench_, cell_of("summary", "soak"));
    cell.expected().num_samples_min = 0;
    cell.value("num_empty_answers", "", num_empty_);
    judge_memory(cell);
    judge_speed(cell);
    return cell.end();
  }

  void judge_memory(CellRunner& cell) const {
    if (memory_bytes_.size() < kLooksMin) {
      cell.finding(Fault::not_measured, Severity::note,
                   "soak: memory growth: the server does not tell its memory, or was not seen "
                   "long enough");
      return;
    }
    const double per_hour = slope_of(memory_hours_, memory_bytes_).per_x;
    cell.value("memory_growth_bytes_per_h", "B/h", per_hour);
    const double growth = per_hour * (memory_hours_.back() - memory_hours_.front());
    const double allowed = std::max(kGrowthBytesMin, kGrowthMin * memory_bytes_.front());
    if (growth > allowed)
      cell.finding(
          Fault::memory_grew, Severity::warning,
          fmt::format("by {:.1f} MiB since the first tenth, {:.1f} MiB an hour, from "
                      "{:.1f} MiB",
                      growth / (1 << 20), per_hour / (1 << 20), memory_bytes_.front() / (1 << 20)));
  }

  void judge_speed(CellRunner& cell) const {
    if (first_speeds_.size() < 3 || last_speeds_.size() < 3) {
      if (!bench_.stop)
        cell.finding(Fault::too_few_samples, Severity::warning,
                     fmt::format("{} and {} short answers in the first and last tenth: speed kept "
                                 "cannot be said",
                                 first_speeds_.size(), last_speeds_.size()));
      return;
    }
    const double first = summarise(first_speeds_).p50;
    const double last = summarise(last_speeds_).p50;
    if (first <= 0) return;
    cell.value("retention", "", last / first);
    if (last / first < kRetentionMin)
      cell.finding(Fault::slowed_down, Severity::warning,
                   fmt::format("median of {:.1f} tokens/s in the first tenth, {:.1f} in the last: "
                               "{:.1f} % kept",
                               first, last, 100 * last / first));
  }

  Bench& bench_;
  std::mt19937_64 random_;
  uint64_t long_tokens_;
  Status failed_;  // why no further prompt can be made
  Clock::time_point next_look_;
  std::vector<double> memory_hours_;  // since the run began
  std::vector<double> memory_bytes_;
  std::vector<double> first_speeds_;
  std::vector<double> last_speeds_;
  uint32_t num_empty_ = 0;
};

Status run(Bench& bench) { return Soak(bench).run(); }

Seconds expected_time(const Bench& bench, const Speed&) { return bench.options.soak.time; }

}  // namespace

const Experiment soak_experiment = {
    .name = "soak",
    .summary = "Hours of mixed work: speed kept, empty answers, memory that grows",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
