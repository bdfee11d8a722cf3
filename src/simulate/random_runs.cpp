#include "simulate/random_runs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace evener::simulate {
namespace {

constexpr auto kReportInterval = std::chrono::milliseconds(100);

thread_local unsigned current_seed = 0;

// An assertion of our own has failed: at least the seed is to be known.
void write_seed(int) {
  std::array<char, 40> text{"evener: the seed was "};
  char* end = text.data() + std::strlen(text.data());
  end = std::to_chars(end, text.data() + text.size() - 1, current_seed).ptr;
  *end++ = '\n';
  const auto length = static_cast<size_t>(end - text.data());
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), length);
}

class AbortWatch {
 public:
  AbortWatch() : before_(std::signal(SIGABRT, write_seed)) {}
  ~AbortWatch() { std::signal(SIGABRT, before_); }
  AbortWatch(const AbortWatch&) = delete;
  AbortWatch& operator=(const AbortWatch&) = delete;

 private:
  void (*before_)(int);
};

void add_outcome(RunsReport& report, const Outcome& outcome, unsigned seed) {
  if (outcome.verdict.breach() && (!report.failing_seed || seed < *report.failing_seed)) {
    report.failing_seed = seed;
  }
  report.verdict.add(outcome.verdict);
  ++report.num_runs;
  report.num_requests += outcome.lives.size();
  report.num_steps += outcome.scheduler.num_steps;
  report.num_tokens += outcome.scheduler.tokens_issued;
  report.num_retractions += outcome.scheduler.num_retractions;
  report.num_failed_steps += outcome.num_failed_steps;
  report.num_failed_loads += outcome.num_failed_loads;
  report.tokens_matched += outcome.cache.tokens_matched;
  for (const Life& life : outcome.lives) {
    if (life.fate == Fate::cancelled) ++report.num_cancelled;
    if (life.fate == Fate::failed) ++report.num_failed;
    const bool refused = life.fate == Fate::too_large || life.fate == Fate::queue_full ||
                         life.fate == Fate::displaced || life.fate == Fate::timed_out;
    if (refused) ++report.num_refused;
  }
}

// Shared by the threads.
class Runs {
 public:
  Runs(unsigned first_seed, uint64_t num_runs, size_t num_stages)
      : first_seed_(first_seed), num_runs_(num_runs), num_stages_(num_stages) {}

  RunsReport run(FunctionRef<bool(uint64_t)> advance) {
    const AbortWatch watch;
    std::vector<std::thread> threads;
    num_working_ = std::clamp(std::thread::hardware_concurrency(), 1U, 64U);
    for (size_t i = num_working_; i > 0; --i) threads.emplace_back([this] { work(); });
    wait(advance);
    for (std::thread& thread : threads) thread.join();
    return report_;
  }

 private:
  void work() noexcept {
    while (!stop_) {
      const uint64_t index = next_++;
      if (index >= num_runs_) break;
      const unsigned seed = first_seed_ + static_cast<unsigned>(index);
      current_seed = seed;
      const Outcome outcome = simulate(random_workload(seed, stages_of(seed, num_stages_)));
      const std::lock_guard lock(mutex_);
      add_outcome(report_, outcome, seed);
      if (outcome.verdict.breach()) stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    --num_working_;
    ended_.notify_one();
  }

  void wait(FunctionRef<bool(uint64_t)> advance) {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kReportInterval, [this] { return num_working_ == 0; })) {
      if (!advance(report_.num_runs)) stop_ = true;
    }
  }

  const unsigned first_seed_;
  const uint64_t num_runs_;
  const size_t num_stages_;
  std::atomic<uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;

  std::mutex mutex_;
  std::condition_variable ended_;
  size_t num_working_ = 0;
  RunsReport report_;
};

}  // namespace

size_t stages_of(unsigned seed, size_t num_stages) {
  return num_stages > 0 ? num_stages : 1 + (seed - 1) % 4;
}

RunsReport run_random(unsigned first_seed, uint64_t num_runs, size_t num_stages,
                      FunctionRef<bool(uint64_t num_done)> advance) {
  return Runs(first_seed, num_runs, num_stages).run(advance);
}

}  // namespace evener::simulate
