// evener simulate: the scheduler and the cache, as the server runs them, against a model and a
// device made of hashes. Exit status: 0 every invariant held, 1 one was broken.
#include <fmt/format.h>

#include <chrono>

#include "cli/command.h"
#include "cli/long_work.h"
#include "sched/virtual_time.h"
#include "simulate/random_runs.h"
#include "simulate/scenarios.h"
#include "simulate/shrink.h"

namespace evener::cli {
namespace {

struct Options {
  uint32_t seed = 1;
  uint64_t runs = 10'000;
  uint32_t stages = 0;
};
Options options;

void add_options(CommandLine& line) {
  line.add("--runs", options.runs, "random workloads to run; 0: the scenarios alone");
  line.add("--seed", options.seed, "of the first; the others follow");
  line.add("--stages", options.stages,
           "of the device, each at a step of its own; 0: 1 to 4 in turn");
}

void print_starvation(const char* rule, const simulate::Starvation& starved) {
  fmt::print("  {:26} {:2} gaps over 1 s, the largest {:6.3f} s; the prompt took {:6.2f} s\n", rule,
             starved.num_long_gaps, sched::seconds(starved.gap_max),
             sched::seconds(starved.prompt_time));
}

void print_starvations() {
  fmt::print("an answer meets a prompt of 48,000 tokens:\n");
  print_starvation("--max-prefill-steps 0", simulate::starve({.max_prefill_steps = 0}));
  print_starvation("--max-prefill-steps 1", simulate::starve({.max_prefill_steps = 1}));
  print_starvation("--max-gap 400", simulate::starve({.decode_share = 0}));
  print_starvation("  --decode-share 0.1", simulate::starve({.decode_share = 0.1}));
  print_starvation("  --decode-share 0.5", simulate::starve({.decode_share = 0.5}));
}

void print_breach(const simulate::Breach& breach) {
  fmt::print("broken: {}\n", simulate::to_string(breach));
}

// The failing run again, and as small as it gets.
void explain(unsigned seed, LongWork& work) {
  const simulate::Workload failing =
      simulate::random_workload(seed, simulate::stages_of(seed, options.stages));
  const auto breach = simulate::simulate(failing).verdict.breach();
  work.finish();
  if (!breach) return;
  print_breach(*breach);
  const simulate::Workload small = simulate::shrink(failing, breach->invariant);
  fmt::print("the same with {} of {} requests:\n{}", small.requests.size(), failing.requests.size(),
             simulate::to_string(small));
  print_breach(*simulate::simulate(small).verdict.breach());
}

void print_checks(const simulate::Verdict& verdict) {
  for (size_t i = 0; i < simulate::kNumInvariants; ++i) {
    const simulate::InvariantText& text = simulate::kInvariants[i];
    fmt::print("  {} {:>11} times: {}\n", text.name,
               verdict.num_checks(static_cast<simulate::Invariant>(i)), text.promise);
  }
}

bool run_scenarios(simulate::Verdict& all, LongWork& work) {
  for (const simulate::Scenario& scenario : simulate::kScenarios) {
    const simulate::Verdict verdict = scenario.run();
    all.add(verdict);
    if (!verdict.breach()) continue;
    work.finish();
    fmt::print("scenario '{}'\n", scenario.name);
    print_breach(*verdict.breach());
    return false;
  }
  return true;
}

Result<int> run() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  LongWork work;
  simulate::Verdict checks;
  if (!run_scenarios(checks, work)) return kExitFailed;
  const simulate::RunsReport report =
      simulate::run_random(options.seed, options.runs, options.stages, [&](uint64_t num_done) {
        return work.advance("simulate", static_cast<double>(num_done),
                            static_cast<double>(options.runs));
      });
  work.finish();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  checks.add(report.verdict);
  print_checks(checks);
  print_starvations();
  if (report.failing_seed) explain(*report.failing_seed, work);
  fmt::print(
      "{} runs in {:.1f} s: {} requests ({} cancelled, {} refused, {} failed), {} steps, {} tokens "
      "computed, "
      "{} from the cache, {} retractions, {} failed steps, {} failed loads: {}\n",
      report.num_runs, seconds, report.num_requests, report.num_cancelled, report.num_refused,
      report.num_failed, report.num_steps, report.num_tokens, report.tokens_matched,
      report.num_retractions, report.num_failed_steps, report.num_failed_loads,
      report.failing_seed ? fmt::format("seed {} broke an invariant", *report.failing_seed)
                          : std::string("every invariant held"));
  return report.failing_seed ? kExitFailed : 0;
}

}  // namespace

extern const Command simulate_command;
const Command simulate_command = {
    .name = "simulate",
    .summary = "Check the scheduler and the cache on random traffic in virtual time",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
