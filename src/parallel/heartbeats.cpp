#include "parallel/heartbeats.h"

namespace evener::parallel {

Heartbeats::Heartbeats(size_t num_ranks) : pulses_(num_ranks) {
  for (size_t rank = 0; rank < num_ranks; ++rank) beat(rank);
}

void Heartbeats::begin_pass(size_t rank, uint64_t pass) {
  pulses_[rank].pass.store(pass, std::memory_order_relaxed);
  beat(rank);
}

Heartbeats::Clock::time_point Heartbeats::last(size_t rank) const {
  return Clock::time_point(Clock::duration(pulses_[rank].last.load(std::memory_order_relaxed)));
}

void Heartbeats::begin_wait(size_t rank, size_t peer) {
  beat(rank);
  pulses_[rank].wait_began.store(now(), std::memory_order_relaxed);
  pulses_[rank].peer.store(int64_t(peer), std::memory_order_release);
}

std::optional<size_t> Heartbeats::waits_for(size_t rank, Clock::duration least) const {
  const int64_t peer = pulses_[rank].peer.load(std::memory_order_acquire);
  if (peer < 0) return std::nullopt;
  const int64_t began = pulses_[rank].wait_began.load(std::memory_order_relaxed);
  if (now() - began < least.count()) return std::nullopt;
  return size_t(peer);
}

Heartbeats::Report Heartbeats::report(size_t rank) const {
  const Pulse& pulse = pulses_[rank];
  Report report{.silent_for = silent_for(rank), .pass = pass(rank), .peer = {}, .waits_for = {}};
  if (const auto peer = waits_for(rank, Clock::duration::zero())) {
    report.peer = peer;
    report.waits_for = Clock::duration(now() - pulse.wait_began.load(std::memory_order_relaxed));
  }
  return report;
}

void Heartbeats::learn(size_t rank, const Report& report) {
  Pulse& pulse = pulses_[rank];
  pulse.last.store(now() - report.silent_for.count(), std::memory_order_relaxed);
  pulse.pass.store(report.pass, std::memory_order_relaxed);
  pulse.wait_began.store(now() - report.waits_for.count(), std::memory_order_relaxed);
  pulse.peer.store(report.peer ? int64_t(*report.peer) : -1, std::memory_order_release);
}

std::vector<size_t> Heartbeats::circle(size_t rank, Clock::duration least) const {
  std::vector<size_t> ranks = {rank};
  while (ranks.size() <= pulses_.size()) {
    const std::optional<size_t> next = waits_for(ranks.back(), least);
    if (!next) return {};
    if (*next == rank) return ranks;
    ranks.push_back(*next);
  }
  return {};  // a circle of others, who see it themselves
}

}  // namespace evener::parallel
