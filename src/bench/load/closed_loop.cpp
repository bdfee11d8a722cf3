#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "bench/load.h"
#include "bench/load/in_flight.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kStopPoll = 20ms;
// A server that is down refuses at once; asking it again without a pause would fill the store.
constexpr auto kPauseWithoutServer = 250ms;

class ClosedLoop {
 public:
  ClosedLoop(Client& client, const NextPlan& next, const OnRecord& on_record)
      : client_(client), next_(next), on_record_(on_record) {}

  LoadResult run(uint32_t num_users, const std::atomic<bool>& stop);

 private:
  struct User {
    std::optional<Client::RequestNumber> running;
    Nanoseconds ended{0};  // its last request
    bool done = false;
  };

  void start_all(uint32_t num_users, const std::atomic<bool>& stop);
  void step(uint32_t user);
  void start(uint32_t user, RequestPlan plan);
  void finish(uint32_t user);
  void on_end(uint32_t user, RequestRecord record);
  void make_ready(uint32_t user);
  void cancel_all();

  Client& client_;
  const NextPlan& next_;
  const OnRecord& on_record_;

  std::mutex mutex_;  // for all below
  std::condition_variable changed_;
  std::deque<uint32_t> ready_;
  std::vector<User> users_;
  size_t num_busy_ = 0;  // users that run a request or pause
  InFlight in_flight_;
  std::optional<Nanoseconds> first_done_;
};

LoadResult ClosedLoop::run(uint32_t num_users, const std::atomic<bool>& stop) {
  users_.resize(num_users);
  start_all(num_users, stop);
  std::unique_lock lock(mutex_);
  while (num_busy_ > 0 || !ready_.empty()) {
    if (stop) {
      ready_.clear();
      lock.unlock();
      cancel_all();
      lock.lock();
      changed_.wait(lock, [this] { return num_busy_ == 0; });
      break;
    }
    if (ready_.empty()) {
      changed_.wait_for(lock, kStopPoll);
      continue;
    }
    const uint32_t user = ready_.front();
    ready_.pop_front();
    lock.unlock();
    step(user);
    lock.lock();
  }
  const Nanoseconds full_until = first_done_.value_or(in_flight_.ended());
  return {.began = in_flight_.began(),
          .ended = in_flight_.ended(),
          .mean_in_flight = in_flight_.mean(in_flight_.began(), full_until),
          .num_sent = in_flight_.num_sent(),
          .num_refused = 0,
          .interrupted = stop};
}

// The first plans are made before the first is sent, or making them would thin the load out.
void ClosedLoop::start_all(uint32_t num_users, const std::atomic<bool>& stop) {
  std::vector<std::optional<RequestPlan>> plans;
  for (uint32_t user = 0; user < num_users && !stop; ++user) plans.push_back(next_(user));
  for (uint32_t user = 0; user < plans.size() && !stop; ++user) {
    if (plans[user]) start(user, std::move(*plans[user]));
  }
}

void ClosedLoop::step(uint32_t user) {
  std::optional<RequestPlan> plan = next_(user);
  if (plan) return start(user, std::move(*plan));
  const std::lock_guard lock(mutex_);
  if (!first_done_ || users_[user].ended < *first_done_) first_done_ = users_[user].ended;
}

void ClosedLoop::start(uint32_t user, RequestPlan plan) {
  {
    const std::lock_guard lock(mutex_);
    ++num_busy_;
  }
  const Client::RequestNumber number = client_.start(
      std::move(plan),
      {.on_end = [this, user](RequestRecord record) { on_end(user, std::move(record)); }});
  const std::lock_guard lock(mutex_);
  users_[user].running = number;  // it may have ended; then cancelling it does nothing
}

void ClosedLoop::on_end(uint32_t user, RequestRecord record) {
  const bool no_server = record.fault == Fault::server_down;
  {
    const std::lock_guard lock(mutex_);
    in_flight_.add(record);
    users_[user].ended = record.ended;
  }
  on_record_(std::move(record));
  if (!no_server) return make_ready(user);
  client_.call_at(Clock::now() + kPauseWithoutServer, [this, user] { make_ready(user); });
}

void ClosedLoop::make_ready(uint32_t user) {
  const std::lock_guard lock(mutex_);
  ready_.push_back(user);
  --num_busy_;
  changed_.notify_all();  // under the lock: whoever waits may drop this right after
}

void ClosedLoop::cancel_all() {
  std::vector<Client::RequestNumber> numbers;
  {
    const std::lock_guard lock(mutex_);
    for (const User& user : users_) {
      if (user.running) numbers.push_back(*user.running);
    }
  }
  for (const Client::RequestNumber number : numbers) client_.cancel(number);
}

}  // namespace

LoadResult run_closed_loop(Client& client, uint32_t num_users, const NextPlan& next,
                           const OnRecord& on_record, const std::atomic<bool>& stop) {
  return ClosedLoop(client, next, on_record).run(num_users, stop);
}

}  // namespace evener::bench
