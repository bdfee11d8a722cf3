#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "bench/load.h"
#include "bench/load/in_flight.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kStopPoll = 20ms;
constexpr auto kAhead = 500ms;  // how early a plan is handed to the client

class OpenLoopRun {
 public:
  OpenLoopRun(Client& client, uint32_t max_in_flight, const OnRecord& on_record)
      : client_(client), max_in_flight_(max_in_flight), on_record_(on_record) {}

  // Not sent before `due`.
  void start(RequestPlan plan, Clock::time_point due);
  void wait_until(Clock::time_point when, const std::atomic<bool>& stop);
  // Until all have ended; once `stop` is set they are cancelled.
  void wait_for_all(const std::atomic<bool>& stop);
  LoadResult result();

 private:
  bool on_due();
  void on_end(bool was_sent, RequestRecord record);

  Client& client_;
  const uint32_t max_in_flight_;
  const OnRecord& on_record_;
  std::vector<Client::RequestNumber> numbers_;  // the caller's thread

  std::mutex mutex_;  // for all below
  std::condition_variable changed_;
  uint64_t num_open_ = 0;  // handed to the client and not ended
  uint64_t num_in_flight_ = 0;
  uint64_t num_refused_ = 0;
  Nanoseconds last_sent_{0};
  InFlight in_flight_;
};

void OpenLoopRun::start(RequestPlan plan, Clock::time_point due) {
  plan.scheduled = due;
  {
    const std::lock_guard lock(mutex_);
    ++num_open_;
  }
  const auto sent = std::make_shared<bool>(false);  // the client's thread alone
  numbers_.push_back(client_.start(
      std::move(plan),
      {.on_due = [this, sent] { return *sent = on_due(); },
       .on_end = [this, sent](RequestRecord record) { on_end(*sent, std::move(record)); }}));
}

bool OpenLoopRun::on_due() {
  const std::lock_guard lock(mutex_);
  if (num_in_flight_ >= max_in_flight_) {
    ++num_refused_;
    return false;
  }
  ++num_in_flight_;
  return true;
}

void OpenLoopRun::on_end(bool was_sent, RequestRecord record) {
  if (was_sent) {
    {
      const std::lock_guard lock(mutex_);
      --num_in_flight_;
      in_flight_.add(record);
      last_sent_ = std::max(last_sent_, record.sent);
    }
    on_record_(std::move(record));
  }
  const std::lock_guard lock(mutex_);
  --num_open_;
  changed_.notify_all();  // under the lock: whoever waits may drop this right after
}

void OpenLoopRun::wait_until(Clock::time_point when, const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  while (!stop && Clock::now() < when) {
    changed_.wait_until(lock, std::min(when, Clock::now() + kStopPoll));
  }
}

void OpenLoopRun::wait_for_all(const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  while (num_open_ > 0 && !stop) changed_.wait_for(lock, kStopPoll);
  lock.unlock();
  if (stop) {
    for (const Client::RequestNumber number : numbers_) client_.cancel(number);
  }
  lock.lock();
  changed_.wait(lock, [this] { return num_open_ == 0; });
}

LoadResult OpenLoopRun::result() {
  const std::lock_guard lock(mutex_);
  return {.began = in_flight_.began(),
          .ended = in_flight_.ended(),
          .mean_in_flight = in_flight_.mean(in_flight_.began(), last_sent_),
          .num_sent = in_flight_.num_sent(),
          .num_refused = num_refused_,
          .interrupted = false};
}

}  // namespace

LoadResult run_open_loop(Client& client, const OpenLoop& load,
                         const std::function<RequestPlan(uint64_t index)>& plan,
                         const OnRecord& on_record, const std::atomic<bool>& stop) {
  OpenLoopRun run(client, load.max_in_flight, on_record);
  std::optional<Clock::time_point> begin;
  for (uint64_t i = 0; i < load.arrivals.size() && !stop; ++i) {
    RequestPlan next = plan(i);  // the first is made before the time begins
    if (!begin) begin = Clock::now();
    const Clock::time_point due = *begin + load.arrivals[i];
    run.wait_until(due - kAhead, stop);
    if (!stop) run.start(std::move(next), due);
  }
  run.wait_for_all(stop);
  LoadResult result = run.result();
  result.interrupted = stop;
  return result;
}

}  // namespace evener::bench
