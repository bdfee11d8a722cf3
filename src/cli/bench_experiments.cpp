// evener bench NAME: one command an experiment, with the options that are its own.
#include <string>

#include "bench/experiments/experiments.h"
#include "cli/bench_options.h"
#include "cli/bench_run.h"
#include "cli/command.h"

namespace evener::cli {
namespace {

// One command runs in a process; each fills its part of this.
struct Options {
  BenchOptions bench;
  double time_s = 0;  // 0: what the experiment takes by itself
  std::string variant = "one";
  bool no_code = false;
  uint32_t patience_s = 1800;
};
Options options;

bench::ExperimentOptions& experiment() { return options.bench.experiment; }

void add_common(CommandLine& line) {
  add_server_options(line, options.bench);
  add_run_options(line, options.bench);
}

void add_time(CommandLine& line, const std::string& help) {
  line.add("--time", options.time_s, help).between(0.1, 1e6);
}

void add_num_tokens_in(CommandLine& line) {
  line.add("--input-tokens", experiment().concurrency.num_tokens_in, "tokens of a prompt")
      .between(1, 100e6);
}

void add_sweep_options(CommandLine& line) {
  line.begin_group("Sweep");
  line.add("--lengths", experiment().sweep.lengths,
           "tokens of the prompts; default: powers of two up to what the server takes")
      .separated_by_commas();
  add_common(line);
}

void add_concurrency_options(CommandLine& line) {
  line.begin_group("Concurrency");
  line.add("--levels", experiment().concurrency.levels,
           "numbers of users; default: powers of two up to what the server runs at a time")
      .separated_by_commas();
  add_time(line, "seconds for a level; default: 30");
  add_num_tokens_in(line);
  add_common(line);
}

void add_load_options(CommandLine& line) {
  auto& load = experiment().load;
  line.begin_group("Load");
  const Option rates =
      line.add("--rates", load.rates,
               "requests a second; default: 10 to 120 % of the capacity, which is measured first")
          .separated_by_commas();
  add_time(line, "seconds for a rate; default: 30");
  add_num_tokens_in(line);
  line.add("--burstiness", load.burstiness,
           "shape of the gaps' gamma distribution: 1 is Poisson, below comes in bursts")
      .between(0.01, 1e6);
  line.add("--trace", load.trace,
           "replay this file instead; a line is {\"timestamp\": ms, \"input_length\": N, "
           "\"output_length\": N, \"hash_ids\": [...]}")
      .excludes(rates);
  line.begin_group("Limits of a good answer");
  line.add("--ttft-ms", load.limits.ttft_ms, "time to the first token");
  line.add("--tpot-ms", load.limits.tpot_ms, "mean time of a further token");
  line.add("--max-gap-ms", load.limits.gap_max_ms, "longest gap between two events");
  line.add("--e2e-ms", load.limits.e2e_ms, "time to the end");
  add_common(line);
}

void add_starvation_options(CommandLine& line) {
  auto& starvation = experiment().starvation;
  line.begin_group("Starvation");
  line.add("--attackers", starvation.attackers,
           "tokens of the long prompts, one a cell; default: 8192, 49152, 200000 as far as the "
           "server takes them")
      .separated_by_commas();
  line.add("--victim-tokens", starvation.num_tokens_victim,
           "tokens of the victim's answer at least")
      .between(16, 1e6);
  line.add("--victims", starvation.num_victims, "answers that are being written").between(1, 1024);
  line.add("--variant", options.variant,
           "one attacker, two at once, a stream of them, or one that is there first")
      .one_of({"one", "two", "stream", "first"});
  add_common(line);
}

void add_prefix_options(CommandLine& line) {
  auto& prefix = experiment().prefix;
  line.begin_group("Prefix");
  line.add("--sessions", prefix.num_sessions, "conversations that take turns").between(1, 1024);
  line.add("--turns", prefix.num_turns, "questions of each").between(2, 1024);
  line.add("--shared-tokens", prefix.num_tokens_shared, "tokens that the first prompts share")
      .between(1, 100e6);
  line.add("--new-tokens", prefix.num_tokens_new, "tokens that a turn adds").between(1, 100e6);
  add_common(line);
}

void add_soak_options(CommandLine& line) {
  line.begin_group("Soak");
  add_time(line, "seconds for all of it; default: 7200");
  line.add("--users", experiment().soak.num_users, "users who ask without a pause")
      .between(1, 4096);
  add_common(line);
}

void add_quality_options(CommandLine& line) {
  auto& quality = experiment().quality;
  line.begin_group("Quality");
  line.add("--needle-lengths", quality.needle_lengths,
           "tokens of the texts that numbers are hidden in; default: as long as the server takes")
      .separated_by_commas();
  line.add("--answer-tokens", quality.num_tokens_out_max,
           "most tokens of an answer, reasoning and all")
      .between(16, 1e6);
  line.add("--no-code", options.no_code, "do not run the code that the model writes");
  add_common(line);
}

void add_coldstart_options(CommandLine& line) {
  auto& coldstart = experiment().coldstart;
  line.begin_group("Cold start");
  const Option command =
      line.add("--command", coldstart.command,
               "command that starts the server at --url; default: evener serve itself");
  line.add("--unit", coldstart.unit, "unit of systemd that is started and stopped instead")
      .excludes(command);
  line.add("--patience", options.patience_s, "seconds that a start may take").between(1, 86'400);
  line.add("--drop-page-cache", coldstart.drop_page_cache,
           "have the kernel forget the model's files before each start; as root");
  add_common(line);
}

void add_link_options(CommandLine& line) {
  line.begin_group("Link");
  line.add("--sizes", experiment().link.sizes_bytes, "bytes of a transfer, multiples of 4096")
      .separated_by_commas();
  add_run_options(line, options.bench);
}

void add_kernel_options(CommandLine& line) { add_run_options(line, options.bench); }

void apply_variant() {
  using Variant = bench::ExperimentOptions::Starvation::Variant;
  auto& variant = experiment().starvation.variant;
  if (options.variant == "two") variant = Variant::two;
  if (options.variant == "stream") variant = Variant::stream;
  if (options.variant == "first") variant = Variant::first;
}

void apply_time() {
  if (options.time_s <= 0) return;
  const std::chrono::duration<double> time(options.time_s);
  experiment().concurrency.time = time;
  experiment().load.time = time;
  experiment().soak.time = time;
}

template <const bench::Experiment& kExperiment>
Result<int> run() {
  apply_variant();
  apply_time();
  experiment().quality.run_code = !options.no_code;
  experiment().coldstart.patience = std::chrono::seconds(options.patience_s);
  return run_bench(kExperiment, options.bench);
}

}  // namespace

extern const Command bench_sweep_command;
const Command bench_sweep_command = {
    .name = "sweep",
    .summary = bench::sweep_experiment.summary,
    .add_options = add_sweep_options,
    .run = run<bench::sweep_experiment>,
};

extern const Command bench_concurrency_command;
const Command bench_concurrency_command = {
    .name = "concurrency",
    .summary = bench::concurrency_experiment.summary,
    .add_options = add_concurrency_options,
    .run = run<bench::concurrency_experiment>,
};

extern const Command bench_load_command;
const Command bench_load_command = {
    .name = "load",
    .summary = bench::load_experiment.summary,
    .add_options = add_load_options,
    .run = run<bench::load_experiment>,
};

extern const Command bench_starvation_command;
const Command bench_starvation_command = {
    .name = "starvation",
    .summary = bench::starvation_experiment.summary,
    .add_options = add_starvation_options,
    .run = run<bench::starvation_experiment>,
};

extern const Command bench_prefix_command;
const Command bench_prefix_command = {
    .name = "prefix",
    .summary = bench::prefix_experiment.summary,
    .add_options = add_prefix_options,
    .run = run<bench::prefix_experiment>,
};

extern const Command bench_spec_command;
const Command bench_spec_command = {
    .name = "spec",
    .summary = bench::spec_experiment.summary,
    .add_options = add_common,
    .run = run<bench::spec_experiment>,
};

extern const Command bench_soak_command;
const Command bench_soak_command = {
    .name = "soak",
    .summary = bench::soak_experiment.summary,
    .add_options = add_soak_options,
    .run = run<bench::soak_experiment>,
};

extern const Command bench_quality_command;
const Command bench_quality_command = {
    .name = "quality",
    .summary = bench::quality_experiment.summary,
    .add_options = add_quality_options,
    .run = run<bench::quality_experiment>,
};

extern const Command bench_coldstart_command;
const Command bench_coldstart_command = {
    .name = "coldstart",
    .summary = bench::coldstart_experiment.summary,
    .add_options = add_coldstart_options,
    .run = run<bench::coldstart_experiment>,
};

extern const Command bench_kernel_command;
const Command bench_kernel_command = {
    .name = "kernel",
    .summary = bench::kernel_experiment.summary,
    .add_options = add_kernel_options,
    .run = run<bench::kernel_experiment>,
};

extern const Command bench_link_command;
const Command bench_link_command = {
    .name = "link",
    .summary = bench::link_experiment.summary,
    .add_options = add_link_options,
    .run = run<bench::link_experiment>,
};

extern const Command bench_all_command;
const Command bench_all_command = {
    .name = "all",
    .summary = bench::all_experiment.summary,
    .add_options = add_common,
    .run = run<bench::all_experiment>,
};

}  // namespace evener::cli
