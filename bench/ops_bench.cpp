// Speed of the CPU device's operations but linear, at sizes of real models.
//
//   ops_bench [--threads N] [--isa avx2] [--only TEXT] [--reps N] [--cpu-time]
//
// One line an operation: the best time of a call, and what it moved or computed a second. With
// --cpu-time and one thread, the thread's own time counts: for a machine that others use too. The
// same operations with their spread, and beside what the machine can do: evener bench kernel.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "bench/machine/op_cases.h"
#include "best_seconds.h"
#include "device/cpu/cpu_device.h"

namespace evener::bench {
namespace {

struct Options {
  size_t num_threads = 0;
  std::string isa;
  std::string only;
  size_t reps = 20;
  bool cpu_time = false;
};

void print(const OpCase& op, const Options& options) {
  const bool is_bytes = op.unit == OpCase::Work::bytes || op.unit == OpCase::Work::memory_bytes;
  const Clock clock = options.cpu_time ? Clock::thread : Clock::wall;
  const double best = best_seconds(options.reps, op.call, clock);
  fmt::print("{:<46} {:>10.1f} us {:>9.2f} {}/s\n", op.name, best * 1e6, op.work / best * 1e-9,
             is_bytes ? "GB" : "GFLOP");
}

Status run(const Options& options) {
  ASSIGN_OR_RETURN(const auto device,
                   device::cpu::create_cpu_device(
                       {.numa_node = 0, .num_threads = options.num_threads, .isa = options.isa}));
  fmt::print("{}\n", device->info().description);
  return each_op_case(*device, [&](const OpCase& op) -> Status {
    if (op.name.find(options.only) != std::string::npos) print(op, options);
    return {};
  });
}

}  // namespace
}  // namespace evener::bench

int main(int argc, char** argv) {
  evener::bench::Options options;
  CLI::App app("Speed of the CPU device's operations");
  app.add_option("--threads", options.num_threads);
  app.add_option("--isa", options.isa);
  app.add_option("--only", options.only);
  app.add_option("--reps", options.reps);
  app.add_flag("--cpu-time", options.cpu_time);
  CLI11_PARSE(app, argc, argv);
  if (const auto done = evener::bench::run(options); !done) {
    fmt::print(stderr, "ops_bench: {}\n", to_string(done.error()));
    return 2;
  }
  return 0;
}
