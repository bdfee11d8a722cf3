#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace evener {

// What the time of a run goes into.
enum class Work {
  dense,        // linear maps of every row
  experts,      // routing, and what the chosen experts compute
  attention,    // rotary, storing keys and values, attention itself
  recurrent,    // convolutions and delta nets
  embedding,    // rows looked up and decoded
  elementwise,  // norms, activations, sums, gates
  copies,       // between host and device, waiting included
  ranks,        // sums and messages between ranks, waiting for the others included
  sampling,     // logits to tokens
  idle,         // nothing to do
};
inline constexpr std::array kWorkNames = {
    std::string_view("dense"),     std::string_view("experts"),   std::string_view("attention"),
    std::string_view("recurrent"), std::string_view("embedding"), std::string_view("elementwise"),
    std::string_view("copies"),    std::string_view("ranks"),     std::string_view("sampling"),
    std::string_view("idle")};

// Time and calls by kind since the last restart(). One thread at a time.
class WorkTimes {
 public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    uint64_t calls = 0;
    Clock::duration time{};
  };

  void restart() { *this = {}; }
  void add(Work work, Clock::duration time) {
    Entry& entry = entries_[static_cast<size_t>(work)];
    ++entry.calls;
    entry.time += time;
  }
  // From `begin` to now, without what lies before the restart.
  void add_since(Work work, Clock::time_point begin) {
    add(work, Clock::now() - std::max(begin, begin_));
  }
  // Fixes the time that passed since the restart.
  void stop() { elapsed_ = Clock::now() - begin_; }

  const Entry& of(Work work) const { return entries_[static_cast<size_t>(work)]; }
  Clock::duration elapsed() const { return elapsed_; }
  // The part of elapsed() that was none of the kinds.
  Clock::duration unnamed() const {
    Clock::duration rest = elapsed_;
    for (const Entry& entry : entries_) rest -= entry.time;
    return rest;
  }

 private:
  std::array<Entry, kWorkNames.size()> entries_;
  Clock::time_point begin_ = Clock::now();
  Clock::duration elapsed_{};
};

// Adds the time of its own life; with a null pointer it does nothing.
class WorkTimer {
 public:
  WorkTimer(WorkTimes* times, Work work) : times_(times), work_(work) {
    if (times_ != nullptr) begin_ = WorkTimes::Clock::now();
  }
  ~WorkTimer() {
    if (times_ != nullptr) times_->add_since(work_, begin_);
  }
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;

 private:
  WorkTimes* times_;
  Work work_;
  WorkTimes::Clock::time_point begin_;
};

}  // namespace evener
