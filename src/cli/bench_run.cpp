#include "cli/bench_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"
#include "bench/host_caliber.h"
#include "bench/metrics.h"
#include "bench/run_caliber.h"
#include "bench/store.h"
#include "bench/watch.h"
#include "cli/bench_store_option.h"
#include "cli/bench_target.h"
#include "cli/command.h"
#include "cli/long_work.h"
#include "host/run_program.h"

namespace evener::cli {
namespace {

using bench::Bench;
using bench::Needs;

constexpr uint64_t kTrialTokensIn = 256;
constexpr uint32_t kTrialTokensOut = 16;
constexpr std::chrono::seconds kLogInterval{2};  // between lines that say the same

std::string in_words(std::chrono::duration<double> time) {
  if (time.count() < 100) return fmt::format("{:.0f} s", time.count());
  if (time.count() < 6000) return fmt::format("{:.0f} min", time.count() / 60);
  return fmt::format("{:.1f} h", time.count() / 3600);
}

class BenchRun {
 public:
  BenchRun(const bench::Experiment& experiment, BenchOptions options)
      : experiment_(experiment), options_(std::move(options)) {}

  Result<int> run() {
    options_.experiment.timeout =
        std::chrono::milliseconds(static_cast<int64_t>(options_.timeout_s * 1000));
    RETURN_IF_ERROR(check_report_files(options_.report));
    ASSIGN_OR_RETURN(const std::filesystem::path store, store_file(options_.store));
    const bench::ExperimentOptions::Coldstart asked = options_.experiment.coldstart;
    ASSIGN_OR_RETURN(target_, find_target(experiment_, options_, work_));
    is_own_start_ = asked.command.empty() && asked.unit.empty();
    if (&experiment_ == &bench::all_experiment) {
      options_.experiment = suite_options(options_.experiment, target_.server->facts());
    }
    ASSIGN_OR_RETURN(bench::RunHeader header, make_header());
    const std::string id = header.id;
    ASSIGN_OR_RETURN(recorder_, bench::StoreRecorder::create(store, std::move(header)));
    const Status measured = measure();
    const Status finished = recorder_->finish(state_after(measured));
    work_.finish();
    return conclude(store, id, measured, finished);
  }

 private:
  Result<bench::RunHeader> make_header() {
    bench::RunHeader header;
    header.started = std::chrono::system_clock::now();
    header.id = bench::make_run_id(header.started);
    header.name = experiment_.name;
    header.note = options_.note;
    const auto role = target_.is_here() ? bench::HostRole::server : bench::HostRole::client;
    ASSIGN_OR_RETURN(header.caliber, bench::read_host_caliber(role));
    header.caliber.merge(bench::tool_caliber());
    header.caliber.merge(target_.caliber(options_));
    bench::ExperimentOptions told = options_.experiment;
    if (is_own_start_) told.coldstart.command = "evener serve";  // its port is another each time
    header.caliber.merge(bench::option_caliber(told, experiment_.name));
    if (!target_.server) return header;
    header.caliber.merge(
        bench::method_caliber(options_.experiment, target_.server->facts(), target_.cpus));
    return header;
  }

  bench::WatchOptions watch_options() const {
    bench::WatchOptions watch;
    watch.sensors.own_processes = {::getpid()};
    if (target_.own_server) watch.sensors.own_processes.push_back(target_.own_server->pid());
    watch.sensors.nvidia_smi = host::find_program("nvidia-smi").value_or("");
    watch.all_work_is_own =
        target_.own_server || !target_.is_here() || experiment_.needs == Needs::nothing;
    watch.claimed_cards = options_.cards;
    return watch;
  }

  // From the client to the last cell. What it uses of the recorder has ended when it returns.
  Status measure() {
    bench::Watch watch(*recorder_, watch_options());
    for (const auto& missing : watch.missing()) {
      log::info("not watched: {}: {}", missing.what, missing.why);
    }
    std::unique_ptr<bench::Client> client;
    std::optional<bench::Prompts> prompts;
    if (target_.client) {
      // The client's thread alone keeps off the server's processors.
      const bench::CpuLimit limit(target_.cpus.client);
      ASSIGN_OR_RETURN(client, bench::Client::create(target_.address, recorder_->start()));
    }
    if (target_.server) prompts.emplace(*client, *target_.server, options_.experiment.seed);
    Bench bench{
        .client = client.get(),
        .server = target_.server.get(),
        .prompts = prompts ? &*prompts : nullptr,
        .recorder = watch,
        .options = options_.experiment,
        .stop = work_.interrupted(),
        .progress = [this](const std::string& what, double fraction) { show(what, fraction); }};
    announce(bench);
    const Status done = experiment_.run(bench);
    // Why it is gone says more than that nobody answers.
    if (!done && done.error().code == Code::unavailable && target_.own_server) {
      RETURN_IF_ERROR(target_.own_server->check());
    }
    RETURN_IF_ERROR(done);
    if (target_.server && !bench.stop) check_same_server();
    return {};
  }

  void show(const std::string& what, double fraction) {
    if (::isatty(STDERR_FILENO) != 0) {
      work_.advance(what, fraction, 1);
      return;
    }
    const auto now = bench::Clock::now();
    if (what == last_shown_ && now - last_shown_at_ < kLogInterval) return;
    last_shown_ = what;
    last_shown_at_ = now;
    log::info("{:3.0f} % {}", 100 * fraction, what);
  }

  // How long it will take, by what one small request shows.
  void announce(const Bench& bench) {
    if (experiment_.expected_time == nullptr) return;
    bench::Speed speed;
    if (bench.server != nullptr) {
      show("looking at the server's speed", 0);
      const auto seen = try_speed(bench);
      if (!seen) return;
      speed = *seen;
    }
    work_.finish();
    log::info("{}: about {}; Ctrl-C keeps what is measured by then", experiment_.name,
              in_words(experiment_.expected_time(bench, speed)));
  }

  // Nothing if the request failed: the experiment will say why.
  std::optional<bench::Speed> try_speed(const Bench& bench) {
    const uint64_t longest = bench::prompt_tokens_max(bench, kTrialTokensOut);
    const uint64_t num_tokens = std::min(longest, kTrialTokensIn);
    auto message = bench.prompts->cold(bench::text_kind(bench), num_tokens);
    if (!message) return std::nullopt;
    auto plan = bench::speed_request(bench, "trial", *std::move(message), num_tokens);
    plan.max_tokens = kTrialTokensOut;
    const bench::RequestRecord record = bench.client->ask(std::move(plan));
    const auto figures = bench::request_figures(record);
    const auto ttft = figures.find("ttft_ms");
    const auto rate = figures.find("decode_whole_tokens_per_s");
    if (ttft == figures.end() || rate == figures.end()) return std::nullopt;
    if (ttft->second <= 0 || rate->second <= 0) return std::nullopt;
    return bench::Speed{
        .prefill_tokens_per_s = static_cast<double>(num_tokens) * 1000 / ttft->second,
        .decode_tokens_per_s = rate->second};
  }

  // A server that was started anew with other flags in the middle of a run is two servers.
  void check_same_server() {
    const auto server = bench::Server::probe(*target_.client);
    std::string changed;
    if (server) {
      const auto& before = target_.server->facts().caliber;
      for (const auto& difference : bench::differences(before, (*server)->facts().caliber)) {
        changed += fmt::format("{}{}: {} at the start, {} at the end", changed.empty() ? "" : "; ",
                               difference.name, difference.in_a, difference.in_b);
      }
    } else {
      changed = "it does not answer at the end: " + server.error().why;
    }
    if (changed.empty()) return;
    recorder_->finding({.fault = bench::Fault::config_changed,
                        .severity = bench::Severity::voids,
                        .cell = {},
                        .request = {},
                        .detail = changed});
  }

  bench::RunState state_after(const Status& measured) {
    if (work_.interrupted()) {
      recorder_->finding({.fault = bench::Fault::interrupted,
                          .severity = bench::Severity::warning,
                          .cell = {},
                          .request = {},
                          .detail = "ended by the user; what was measured by then is kept"});
      return bench::RunState::interrupted;
    }
    return measured ? bench::RunState::complete : bench::RunState::failed;
  }

  // Tells what the store holds, then what went wrong.
  Result<int> conclude(const std::filesystem::path& path, const std::string& id,
                       const Status& measured, const Status& finished) {
    ASSIGN_OR_RETURN(bench::Store store, bench::Store::open(path));
    ASSIGN_OR_RETURN(const bench::Run run, store.load(id));
    RETURN_IF_ERROR(tell_run(run, options_.report));
    fmt::print("\nRun {} is kept in {}\n", id, path.string());
    std::fflush(stdout);
    RETURN_IF_ERROR(measured);
    RETURN_IF_ERROR(finished);
    const bool all_complete = std::ranges::all_of(run.cells, [](const bench::CellRecord& cell) {
      return cell.state == bench::CellState::complete;
    });
    const bool is_void = std::ranges::any_of(run.findings, [](const bench::Finding& finding) {
      return finding.severity == bench::Severity::voids;
    });
    const bool is_good = run.state == bench::RunState::complete && all_complete && !is_void;
    return is_good ? 0 : kExitFailed;
  }

  LongWork work_;  // before all that starts threads
  const bench::Experiment& experiment_;
  BenchOptions options_;
  BenchTarget target_;
  bool is_own_start_ = false;  // of coldstart: the command is ours
  std::unique_ptr<bench::StoreRecorder> recorder_;
  std::string last_shown_;
  bench::Clock::time_point last_shown_at_;
};

}  // namespace

Result<int> run_bench(const bench::Experiment& experiment, BenchOptions options) {
  return BenchRun(experiment, std::move(options)).run();
}

}  // namespace evener::cli
