// From the event that starts a server to its first good answer. A server that is still on its way
// out answers health checks too; so nothing may answer before the start, and what says that it is
// ready must be the process that was started.
// Source: seed-facts.md, 4.1 and 7.6; reference/serving/bench.md, 2.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "bench/cell_runner.h"
#include "bench/experiments/coldstart/phases.h"
#include "bench/experiments/coldstart/started_server.h"
#include "bench/experiments/experiments.h"

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{10};
constexpr milliseconds kLookAtProcess{500};
constexpr milliseconds kHealthPatience{2'000};
constexpr milliseconds kClosePatience{30'000};
// Few: a small model would send more of them in one piece, and its first token would have no time.
constexpr uint32_t kAnswerTokens = 4;
constexpr size_t kLogBytesShown = 1'500;

// What the kernel keeps of files; the caller has stopped the server, whose mapped pages stay else.
bool drop_page_cache() {
  ::sync();
  const int file = ::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool dropped = ::write(file, "3", 1) == 1;
  ::close(file);
  return dropped;
}

class Coldstart {
 public:
  Coldstart(Bench& bench, std::unique_ptr<StartedServer> server)
      : bench_(bench), options_(bench.options.coldstart), server_(std::move(server)) {}

  Status run() {
    if (!options_.unit.empty()) RETURN_IF_ERROR(server_->stop());
    for (uint32_t round = 1; round <= bench_.options.num_rounds && !bench_.stop; ++round) {
      RETURN_IF_ERROR(wait_until_closed(round == 1));
      RETURN_IF_ERROR(measure(round));
    }
    return {};
  }

 private:
  Result<HttpAnswer> ask_health() const {
    auto answer = bench_.client->get("/health", kHealthPatience);
    if (answer && answer->status == 404) return bench_.client->get("/v1/models", kHealthPatience);
    return answer;
  }

  // Ours has been stopped and waited for; before the first start it may be anybody's.
  Status wait_until_closed(bool is_first) const {
    const bool may_be_ours = !is_first || !options_.unit.empty();
    const Clock::time_point end = Clock::now() + (may_be_ours ? kClosePatience : milliseconds(0));
    while (bench_.client->get("/health", kHealthPatience)) {
      if (Clock::now() >= end)
        return Error{.code = Code::unavailable,
                     .doing = "measure a cold start",
                     .where = bench_.client->target().url,
                     .why = "a server answers there before any was started",
                     .remedy = "stop it first, or name another port"};
      wait(bench_, kLook);
      if (bench_.stop) return {};
    }
    return {};
  }

  std::string page_cache(uint32_t round) const {
    if (options_.drop_page_cache && drop_page_cache()) return "dropped";
    return round == 1 ? "as found" : "warm";
  }

  Status measure(uint32_t round) {
    bench_.progress(fmt::format("cold start, round {} of {}", round, bench_.options.num_rounds),
                    double(round - 1) / bench_.options.num_rounds);
    const std::string cache = page_cache(round);
    const std::string start = options_.unit.empty() ? "command" : "unit";
    CellPlan plan;
    plan.experiment = "coldstart";
    plan.point = fmt::format("{}-{}", start, cache);
    std::replace(plan.point.begin(), plan.point.end(), ' ', '_');
    plan.round = round;
    plan.target = {{"start", start}, {"page_cache", cache}};
    plan.expected.judge_stalls = false;
    plan.expected.num_samples_min = 1;
    CellRunner cell(bench_, std::move(plan));
    if (options_.drop_page_cache && cache != "dropped")
      cell.finding(Fault::not_measured, Severity::warning,
                   "with an empty page cache: only root may empty it");

    ASSIGN_OR_RETURN(const Clock::time_point began, server_->start());
    StartClock clock(began);
    const Status ready = wait_until_ready(cell, clock, began);
    const auto first_token = ready ? first_answer(cell, began) : std::nullopt;
    if (first_token) record(cell, clock, began, *first_token);
    RETURN_IF_ERROR(server_->stop());
    const Status ended = cell.end();
    return ready || bench_.stop ? ended : ready;
  }

  Status wait_until_ready(CellRunner& cell, StartClock& clock, Clock::time_point began) const {
    const Clock::time_point end = began + options_.patience;
    Clock::time_point next_look = began + kLookAtProcess;
    while (!bench_.stop) {
      const auto answer = ask_health();
      const Clock::time_point now = Clock::now();
      if (answer) {
        const Health health = read_health(*answer);
        clock.saw(health, now);
        if (health.is_ready) {
          check_process(cell, health);
          return {};
        }
      }
      if (now >= next_look) {
        next_look = now + kLookAtProcess;
        if (const std::string how = server_->how_it_ended(); !how.empty())
          return failed(cell, Fault::server_down, how);
      }
      if (now >= end)
        return failed(cell, Fault::timed_out,
                      fmt::format("it is not ready after {} s", options_.patience.count()));
      wait(bench_, kLook);
    }
    return {};
  }

  void check_process(CellRunner& cell, const Health& health) const {
    if (!health.pid || server_->is_own(*health.pid)) return;
    cell.finding(Fault::config_changed, Severity::warning,
                 fmt::format("process {} answers, which is none of those that were started (in a "
                             "container it has another number)",
                             *health.pid));
  }

  Error failed(CellRunner& cell, Fault fault, const std::string& why) const {
    std::string log = server_->log();
    if (log.size() > kLogBytesShown) log.erase(0, log.size() - kLogBytesShown);
    cell.finding(fault, Severity::voids, why);
    return {
        .code = Code::unavailable,
        .doing = "measure a cold start",
        .where = options_.unit.empty() ? options_.command : options_.unit,
        .why = log.empty() ? why : fmt::format("{}; it wrote: {}", why, printable(log, log.size())),
        .remedy = {}};
  }

  // When its first token came. A server may say that it is ready and not be: every try is kept.
  std::optional<Clock::time_point> first_answer(CellRunner& cell, Clock::time_point began) const {
    const Clock::time_point end = began + options_.patience;
    for (unsigned tries = 0; !bench_.stop; ++tries) {
      RequestPlan plan;
      plan.label = "first answer";
      plan.messages = {{.role = "user", .content = "Count from 1 to 10."}};
      plan.max_tokens = kAnswerTokens;
      plan.timeout = bench_.options.timeout;
      const RequestRecord record = cell.ask(std::move(plan));
      const bool good = record.finish == Finish::stop || record.finish == Finish::length;
      if (good && !record.events.empty()) {
        if (tries > 0)
          cell.finding(
              Fault::retried, Severity::warning,
              fmt::format("{} requests failed after the server had said it was ready", tries));
        return bench_.recorder.start() + record.events.front().at;
      }
      if (Clock::now() >= end || !server_->how_it_ended().empty()) return std::nullopt;
      wait(bench_, milliseconds(100));
    }
    return std::nullopt;
  }

  void record(CellRunner& cell, const StartClock& clock, Clock::time_point began,
              Clock::time_point first_token) const {
    for (const Phase& phase : clock.phases(phases_of_log(server_->log()), first_token))
      cell.value(fmt::format("phase_{}_s", phase.name), "s", phase.time.count());
    cell.value("total_s", "s", Seconds(first_token - began).count());
  }

  Bench& bench_;
  const ExperimentOptions::Coldstart& options_;
  std::unique_ptr<StartedServer> server_;
};

Status run(Bench& bench) {
  const ExperimentOptions::Coldstart& options = bench.options.coldstart;
  if (options.command.empty() == options.unit.empty())
    return Error{.code = Code::invalid_argument,
                 .doing = "measure a cold start",
                 .where = {},
                 .why = "it takes a command line or a unit, one of them",
                 .remedy = "give --command or --unit"};
  if (options.unit.empty()) return Coldstart(bench, make_command_server(options.command)).run();
  ASSIGN_OR_RETURN(auto server, make_unit_server(options.unit));
  return Coldstart(bench, std::move(server)).run();
}

}  // namespace

const Experiment coldstart_experiment = {
    .name = "coldstart",
    .summary = "From the start of the server to its first good answer, by phase",
    .needs = Needs::address,
    .run = run,
};

}  // namespace evener::bench
