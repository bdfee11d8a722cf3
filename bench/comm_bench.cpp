// All-reduce between ranks that are threads, each on a core of its own, in both ways of summing:
// what CommOptions::one_shot_bytes is chosen from.
//
//   comm_bench [--ranks N] [--seconds S] [--piece BYTES]
//
// One line a size: for both ways the median and the best time of a call on rank 0, made one after
// the other, and the bus bandwidth of the median, 2 (n - 1) / n bytes / time, as RCCL's tests
// define it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "best_seconds.h"
#include "device/create_device.h"
#include "parallel/thread_comm.h"

namespace evener::bench {
namespace {

struct Options {
  size_t num_ranks = 2;
  double seconds = 0.3;  // a size and way
  size_t piece_bytes = parallel::CommOptions{}.piece_bytes;
};

struct Times {
  double median = 0;
  double best = 0;
};

// Rank 0 decides by a clock how many calls there are, and tells the others by its first value.
Status reduce(parallel::RankComms& comms, size_t size_bytes, double total, std::latch& ready,
              std::vector<double>* times) {
  ASSIGN_OR_RETURN(const auto device,
                   device::create_device(fmt::format("cpu:0[{}]", comms.rank), 1));
  RETURN_IF_ERROR(device->bind_thread());
  ASSIGN_OR_RETURN(const auto memory, device->allocate(size_bytes));
  const size_t cols = size_bytes / sizeof(float);
  const device::Tensor x{memory.get(), 0, 1, cols, cols};
  float* const values = device->host_data(x);
  ready.arrive_and_wait();
  const double end = seconds(Clock::wall) + total;
  for (bool more = true; more;) {
    values[0] = comms.rank == 0 && seconds(Clock::wall) < end ? 1 : 0;
    const double began = seconds(Clock::wall);
    comms.shards->all_reduce(*device, x);
    if (times != nullptr) times->push_back(seconds(Clock::wall) - began);
    more = values[0] != 0;
  }
  return comms.status();
}

Result<Times> measure(const Options& options, size_t size_bytes, size_t one_shot_bytes) {
  auto ranks = parallel::connect_threads(
      {.num_stages = 1, .num_shards = options.num_ranks},
      {.one_shot_bytes = one_shot_bytes, .piece_bytes = options.piece_bytes});
  std::latch ready(std::ptrdiff_t(options.num_ranks));
  std::vector<double> times;
  times.reserve(1 << 22);
  std::vector<Status> results(options.num_ranks);
  std::vector<std::thread> threads;
  for (auto& comms : ranks) {
    threads.emplace_back([&] {
      results[comms.rank] =
          reduce(comms, size_bytes, options.seconds, ready, comms.rank == 0 ? &times : nullptr);
      if (!results[comms.rank]) comms.break_with(results[comms.rank].error());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) RETURN_IF_ERROR(result);
  std::ranges::sort(times);
  return Times{.median = times[times.size() / 2], .best = times.front()};
}

Status run(const Options& options) {
  const double n = double(options.num_ranks);
  const auto bus = [&](size_t size_bytes, double time) {
    return 2 * (n - 1) / n * double(size_bytes) / time * 1e-9;
  };
  fmt::print("{:>10}  {:>36}  {:>36}\n", "bytes", "each sums all: median, best us, GB/s",
             "each its share: median, best us, GB/s");
  for (size_t size = 1 << 10; size <= size_t{64} << 20; size *= 2) {
    for (const size_t bytes : {size, size == 8192 ? size_t{10240} : 0}) {
      if (bytes == 0) continue;
      ASSIGN_OR_RETURN(const Times all, measure(options, bytes, ~size_t{0}));
      ASSIGN_OR_RETURN(const Times share, measure(options, bytes, 0));
      fmt::print("{:>10}  {:>14.2f} {:>11.2f} {:>9.2f}  {:>14.2f} {:>11.2f} {:>9.2f}\n", bytes,
                 all.median * 1e6, all.best * 1e6, bus(bytes, all.median), share.median * 1e6,
                 share.best * 1e6, bus(bytes, share.median));
    }
  }
  return {};
}

}  // namespace
}  // namespace evener::bench

int main(int argc, char** argv) {
  evener::bench::Options options;
  CLI::App app("All-reduce between threads");
  app.add_option("--ranks", options.num_ranks)->check(CLI::Range(2, 64));
  app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  app.add_option("--piece", options.piece_bytes)->check(CLI::Range(64, 1 << 30));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = evener::bench::run(options); !done) {
    fmt::print(stderr, "comm_bench: {}\n", to_string(done.error()));
    return 2;
  }
  return 0;
}
