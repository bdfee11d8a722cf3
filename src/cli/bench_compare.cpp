// evener bench compare: two runs beside each other. Exit status: 0 compared, 1 not or, with --gate,
// worse, 2 wrong words.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>

#include "bench/compare.h"
#include "cli/bench_load_run.h"
#include "cli/bench_store_option.h"
#include "cli/command.h"

namespace evener::cli {
namespace {

struct Options {
  std::string a;
  std::string b;
  std::string noise;
  std::filesystem::path store;
  bool force = false;
  bool gate = false;
};
Options options;

void add_options(CommandLine& line) {
  line.add("A", options.a, "run to compare with: an id, the beginning of one, or last").required();
  line.add("B", options.b, "run that is compared").required();
  line.add("--force", options.force,
           "compare runs of different calibers too; what differs stands above the figures");
  line.add("--noise", options.noise,
           "a second run of what A measured: an effect not larger than between the two is none");
  line.add("--gate", options.gate,
           "exit with 1 if a figure of B is worse by more than 3 %, by its whole interval");
  add_store_option(line, options.store);
}

Result<int> judge_gate(const bench::Comparison& comparison) {
  if (comparison.num_comparisons == 0) {
    return Error{
        .code = Code::invalid_argument,
        .doing = "judge the gate",
        .where = fmt::format("{} and {}", options.a, options.b),
        .why = "no figure can be judged: there are too few samples, or A has one round",
        .remedy = "measure each point in three rounds or more, or name a second run with --noise"};
  }
  int num_failed = 0;
  for (const bench::PointComparison& point : comparison.points) {
    for (const bench::MetricComparison& metric : point.metrics) {
      if (bench::fails_gate(metric)) ++num_failed;
    }
  }
  fmt::print("Gate: {} of {} figures are worse by more than 3 %.\n", num_failed,
             comparison.num_comparisons);
  return num_failed > 0 ? kExitFailed : 0;
}

Result<int> run() {
  ASSIGN_OR_RETURN(const bench::Run a, load_run(options.store, options.a));
  ASSIGN_OR_RETURN(const bench::Run b, load_run(options.store, options.b));
  std::optional<bench::Run> a_again;
  if (!options.noise.empty()) {
    ASSIGN_OR_RETURN(a_again, load_run(options.store, options.noise));
  }
  if (!options.force) {
    RETURN_IF_ERROR(bench::check_comparable(a, b));
    if (a_again) RETURN_IF_ERROR(bench::check_comparable(a, *a_again));
  }
  ASSIGN_OR_RETURN(const bench::Comparison comparison,
                   bench::compare_runs(a, b, a_again ? &*a_again : nullptr));
  fmt::print("{}", bench::comparison_text(comparison, a, b));
  return options.gate ? judge_gate(comparison) : 0;
}

}  // namespace

extern const Command bench_compare_command;
const Command bench_compare_command = {
    .name = "compare",
    .summary = "Compare two runs, with intervals; refuse those of different calibers",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
