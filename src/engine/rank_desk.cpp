#include "engine/rank_desk.h"

#include <algorithm>
#include <utility>

namespace evener::engine {

RankDesk::RankDesk(size_t num_ranks) : done_(num_ranks), ended_(num_ranks) {}

void RankDesk::done(size_t rank, uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    done_[rank] = number;
    if (awaited_ == 0 || !all_have_done(awaited_)) return;
  }
  changed_.notify_all();
}

void RankDesk::fail(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::move(error);
  }
  changed_.notify_all();
}

std::optional<Error> RankDesk::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void RankDesk::ended(size_t rank) {
  {
    const std::lock_guard lock(mutex_);
    ended_[rank] = true;
  }
  changed_.notify_all();
}

bool RankDesk::has_ended(size_t rank) const {
  const std::lock_guard lock(mutex_);
  return ended_[rank];
}

bool RankDesk::all_have_done(uint64_t number) const {
  return std::ranges::all_of(done_, [number](uint64_t done) { return done >= number; });
}

std::vector<size_t> RankDesk::late_ranks(uint64_t number) const {
  std::vector<size_t> ranks;
  for (size_t rank = 0; rank < done_.size(); ++rank) {
    if (done_[rank] < number) ranks.push_back(rank);
  }
  return ranks;
}

Status RankDesk::wait(uint64_t number, std::chrono::milliseconds look_interval, Look look) {
  std::unique_lock lock(mutex_);
  awaited_ = number;
  const auto is_over = [&] { return failure_ || all_have_done(number); };
  while (!changed_.wait_for(lock, look_interval, is_over)) {
    const std::vector<size_t> ranks = late_ranks(number);
    lock.unlock();
    look(ranks);
    lock.lock();
  }
  awaited_ = 0;
  if (failure_) return *failure_;
  return {};
}

bool RankDesk::wait_until_ended(size_t rank, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return bool(ended_[rank]); });
}

}  // namespace evener::engine
