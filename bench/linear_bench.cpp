// Speed of linear maps alone, by format and number of rows:
//
//   linear_bench [--outputs 3072] [--inputs 1024] [--matrices 16] [--rows 1,4,8,16,128,512]
//                [--types Q4_K,Q8_0] [--threads 1] [--rounds 5] [--isa avx2]
//                [--cpu-time]
//
// Each round multiplies with `matrices` different weights, so that few rows read from memory as a
// model does; the best round counts, which is what a busy machine leaves comparable, and with
// --cpu-time and one thread, the thread's own time. Prints GMAC/s
// (multiply-adds) and GB/s of packed weights. `pack` is the speed of upload, in GB/s of the file.
// What the machine can do at most says evener bench kernel.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "bench/machine/random_weights.h"
#include "best_seconds.h"
#include "device/cpu/linear.h"
#include "device/cpu/packed_weight.h"

namespace evener::device::cpu {
namespace {

struct Options {
  size_t outputs = 3072;
  size_t inputs = 1024;
  size_t num_matrices = 16;
  std::vector<size_t> rows = {1, 2, 4, 8, 16, 128, 512};
  std::vector<std::string> types = {"Q4_K",   "Q5_K",   "Q6_K",    "Q8_0",   "Q4_0",
                                    "IQ4_XS", "IQ3_S",  "IQ3_XXS", "IQ2_XS", "MXFP4",
                                    "Q3_K",   "IQ4_NL", "BF16"};
  size_t num_threads = 1;
  size_t rounds = 5;
  std::string isa;
  bool cpu_time = false;
};

using Seconds = std::chrono::duration<double>;

class Bench {
 public:
  Bench(const Options& options, DType dtype, ThreadPool& pool, const LinearKernels& kernels)
      : options_(options), pool_(pool), kernels_(kernels) {
    bytes_ = bench::random_weights(dtype, options.outputs * options.inputs);
    source_ = {.name = "bench",
               .dtype = dtype,
               .outputs = options.outputs,
               .inputs = options.inputs,
               .bytes = bytes_};
  }

  Result<void> pack() {
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < options_.num_matrices; ++i) {
      ASSIGN_OR_RETURN(auto weight, pack_weight(source_, WeightUse::linear, pool_, kernels_));
      weights_.push_back(std::move(weight));
    }
    const double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
    const auto packed_bytes = double(options_.num_matrices * bytes_.size());
    fmt::print("{:7} pack {:6.2f} GB/s\n", info(source_.dtype).name, packed_bytes / seconds / 1e9);
    return {};
  }

  void measure(size_t rows) {
    const std::vector<float> x(rows * options_.inputs, 0.5f);
    std::vector<float> y(rows * options_.outputs);
    const auto multiply_all = [&] {
      for (const auto& weight : weights_) multiply(*weight, x, y, rows);
    };
    const bench::Clock clock = options_.cpu_time ? bench::Clock::thread : bench::Clock::wall;
    const double seconds = bench::best_seconds(options_.rounds, multiply_all, clock);
    const double macs = double(rows * options_.outputs * options_.inputs * weights_.size());
    const double bytes = double(weights_.front()->size_bytes() * weights_.size());
    fmt::print("{:7} {:4} rows {:8.2f} GMAC/s {:7.2f} GB/s\n", info(source_.dtype).name, rows,
               macs / seconds / 1e9, bytes / seconds / 1e9);
  }

 private:
  void multiply(const Weight& weight, const std::vector<float>& x, std::vector<float>& y,
                size_t rows) {
    const HostLinearPart part{.weight = &weight,
                              .bias = nullptr,
                              .y = {y.data(), rows, options_.outputs, options_.outputs}};
    linear(pool_, kernels_, scratch_, {x.data(), rows, options_.inputs, options_.inputs},
           {&part, 1});
  }

  const Options& options_;
  ThreadPool& pool_;
  const LinearKernels& kernels_;
  std::vector<std::byte> bytes_;
  WeightSource source_;
  std::vector<std::unique_ptr<Weight>> weights_;
  LinearScratch scratch_;
};

Result<void> run(const Options& options) {
  ASSIGN_OR_RETURN(const Isa isa, choose_isa(options.isa));
  std::vector<int> cpus(options.num_threads);
  std::iota(cpus.begin(), cpus.end(), 0);
  ASSIGN_OR_RETURN(const auto pool, ThreadPool::create(cpus));
  for (const std::string& name : options.types) {
    const auto dtype = dtype_from_name(name);
    if (!dtype) continue;
    Bench bench(options, *dtype, *pool, linear_kernels(isa));
    RETURN_IF_ERROR(bench.pack());
    for (const size_t rows : options.rows) bench.measure(rows);
  }
  return {};
}

}  // namespace
}  // namespace evener::device::cpu

int main(int argc, char** argv) {
  evener::device::cpu::Options options;
  CLI::App app("Speed of linear maps alone, by format and number of rows");
  app.add_option("--outputs", options.outputs)->check(CLI::Range(1, 1 << 20));
  app.add_option("--inputs", options.inputs, "a multiple of 256")->check(CLI::Range(256, 1 << 20));
  app.add_option("--matrices", options.num_matrices)->check(CLI::Range(1, 10000));
  app.add_option("--rows", options.rows)->delimiter(',');
  app.add_option("--types", options.types)->delimiter(',');
  app.add_option("--threads", options.num_threads)->check(CLI::Range(1, 256));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 10000));
  app.add_option("--isa", options.isa);
  app.add_flag("--cpu-time", options.cpu_time);
  CLI11_PARSE(app, argc, argv);
  if (const auto done = evener::device::cpu::run(options); !done) {
    fmt::print(stderr, "linear_bench: {}\n", to_string(done.error()));
    return 1;
  }
  return 0;
}
