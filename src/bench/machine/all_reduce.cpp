#include "bench/machine/all_reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "device/cpu/cpu_node.h"
#include "device/create_device.h"
#include "parallel/thread_comm.h"

namespace evener::bench {
namespace {

using device::Tensor;

constexpr double kSampleSeconds = 5e-3;
constexpr size_t kCallsMax = 100000;

// Whole numbers whose sums are exact.
float value_of(size_t rank, size_t i, size_t sample) {
  return float((rank + 1) * ((i * 7 + sample * 13) % 1021));
}

// What one rank does; rank 0 also times it and says what comes next.
class SummingRank {
 public:
  SummingRank(parallel::RankComms& comms, std::unique_ptr<device::Device> device)
      : comm_(*comms.shards), device_(std::move(device)) {}

  Status allocate(size_t size_bytes) {
    ASSIGN_OR_RETURN(memory_, device_->allocate(size_bytes));
    ASSIGN_OR_RETURN(word_memory_, device_->allocate(sizeof(float)));
    values_.resize(size_bytes / sizeof(float));
    x_ = {memory_.get(), 0, 1, values_.size(), values_.size()};
    word_ = {word_memory_.get(), 0, 1, 1, 1};
    return {};
  }

  // Until rank 0 says 0 calls; the first sample tells how many a sample takes.
  Status run(size_t num_samples, const std::atomic<bool>& stop, AllReduceTimes* times) {
    size_t num_calls = 1;
    for (size_t sample = 0;; ++sample) {
      if (sample > num_samples || stop) num_calls = 0;
      num_calls = told_by_first(num_calls);
      RETURN_IF_ERROR(comm_.status());
      if (num_calls == 0) return {};
      compare(sample);
      const double seconds = time_calls(num_calls) / double(num_calls);
      if (sample > 0) times->seconds.push_back(seconds);
      if (sample == 0) {
        num_calls = size_t(std::clamp(kSampleSeconds / seconds, 1.0, double(kCallsMax)));
      }
    }
  }

  uint64_t num_wrong() const { return num_wrong_; }

 private:
  size_t told_by_first(size_t number) {
    float word = float(number);
    device_->write({&word, 1}, word_);
    comm_.broadcast(*device_, 0, word_);
    device_->read(word_, {&word, 1});
    return size_t(word);
  }

  void compare(size_t sample) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = value_of(comm_.rank(), i, sample);
    device_->write(values_, x_);
    comm_.all_reduce(*device_, x_);
    device_->read(x_, values_);
    const size_t n = comm_.size();
    const auto factor = float(n * (n + 1) / 2);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] != value_of(0, i, sample) * factor) ++num_wrong_;
    }
  }

  // Of zeros, which stay zeros.
  double time_calls(size_t num_calls) {
    std::ranges::fill(values_, 0.0F);
    device_->write(values_, x_);
    comm_.all_reduce(*device_, word_);  // all begin together
    const auto began = std::chrono::steady_clock::now();
    for (size_t call = 0; call < num_calls; ++call) comm_.all_reduce(*device_, x_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

  parallel::Comm& comm_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Buffer> memory_;
  std::unique_ptr<device::Buffer> word_memory_;
  std::vector<float> values_;
  Tensor x_;
  Tensor word_;
  uint64_t num_wrong_ = 0;
};

struct Plan {
  size_t size_bytes;
  size_t num_samples;
  const std::atomic<bool>& stop;
};

Status run_rank(parallel::RankComms& comms, const std::string& device_name, const Plan& plan,
                AllReduceTimes* times) {
  ASSIGN_OR_RETURN(auto device, device::create_device(device_name, 0));
  RETURN_IF_ERROR(device->bind_thread());
  SummingRank rank(comms, std::move(device));
  RETURN_IF_ERROR(rank.allocate(plan.size_bytes));
  const Status done = rank.run(plan.num_samples, plan.stop, times);
  times->num_wrong = rank.num_wrong();
  return done;
}

}  // namespace

Result<std::vector<std::string>> devices_to_sum_over() {
  ASSIGN_OR_RETURN(const auto nodes, device::cpu::read_cpu_nodes());
  std::vector<std::string> names;
  for (const auto& node : nodes) {
    if (!node.cpus.empty()) names.push_back(fmt::format("cpu:{}", node.index));
  }
  if (names.size() != 1) return names;
  const auto only =
      std::ranges::find_if(nodes, [](const auto& node) { return !node.cpus.empty(); });
  if (only->cpus.size() < 2) return names;
  return std::vector<std::string>{names[0] + "[0]", names[0] + "[1]"};
}

Result<AllReduceTimes> time_all_reduce(const std::vector<std::string>& devices, size_t size_bytes,
                                       size_t num_samples, const std::atomic<bool>& stop) {
  auto ranks = parallel::connect_threads({.num_stages = 1, .num_shards = devices.size()},
                                         {.names = devices});
  const Plan plan{.size_bytes = size_bytes, .num_samples = num_samples, .stop = stop};
  std::vector<AllReduceTimes> times(ranks.size());
  std::vector<Status> results(ranks.size());
  std::vector<std::thread> threads;
  for (parallel::RankComms& comms : ranks) {
    threads.emplace_back([&] {
      Status& result = results[comms.rank];
      result = run_rank(comms, devices[comms.rank], plan, &times[comms.rank]);
      if (!result) comms.break_with(result.error());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) RETURN_IF_ERROR(result);
  AllReduceTimes all = std::move(times.front());
  for (size_t rank = 1; rank < times.size(); ++rank) all.num_wrong += times[rank].num_wrong;
  return all;
}

}  // namespace evener::bench
