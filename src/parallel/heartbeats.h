#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace evener::parallel {

// When each rank of a grid last showed a sign of life, and whom it waits for. A rank beats with
// every call of a Comm, while it waits in one, and where its own code says so between calls that
// are far apart. Any thread may read.
class Heartbeats {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Heartbeats(size_t num_ranks);
  size_t num_ranks() const { return pulses_.size(); }

  // A sign of life; some 30 ns. From the rank's thread.
  void beat(size_t rank) { pulses_[rank].last.store(now(), std::memory_order_relaxed); }

  // The same, and what messages say of calls from here on: "all-reduce 17 of pass 3".
  void begin_pass(size_t rank, uint64_t pass);
  uint64_t pass(size_t rank) const { return pulses_[rank].pass.load(std::memory_order_relaxed); }

  Clock::time_point last(size_t rank) const;

  // Since its last sign of life, which for one that has no work is long without harm.
  Clock::duration silent_for(size_t rank) const { return Clock::now() - last(rank); }

  // From the rank's thread, around a long wait.
  void begin_wait(size_t rank, size_t peer);
  void end_wait(size_t rank) { pulses_[rank].peer.store(-1, std::memory_order_relaxed); }

  // What a process tells others of its rank, and what they make of it.
  struct Report {
    Clock::duration silent_for{};
    uint64_t pass = 0;
    std::optional<size_t> peer;  // that the rank waits for
    Clock::duration waits_for{};
  };
  Report report(size_t rank) const;
  void learn(size_t rank, const Report& report);

  // The ranks that wait for each other in a circle through `rank`, all of them for `least` or
  // longer; empty if there is none.
  std::vector<size_t> circle(size_t rank, Clock::duration least) const;

 private:
  struct alignas(64) Pulse {
    std::atomic<int64_t> last = 0;
    std::atomic<uint64_t> pass = 0;
    std::atomic<int64_t> peer = -1;  // that it waits for
    std::atomic<int64_t> wait_began = 0;
  };

  static int64_t now() { return Clock::now().time_since_epoch().count(); }
  std::optional<size_t> waits_for(size_t rank, Clock::duration least) const;

  std::vector<Pulse> pulses_;
};

}  // namespace evener::parallel
