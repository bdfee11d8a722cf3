#include "engine/rank_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "device/watched_device.h"
#include "parallel/rank_errors.h"
#include "parallel/self_test.h"
#include "parallel/timed_comm.h"

namespace evener::engine {

// Shared by the thread and its owner: whoever is last frees it.
class RankThread::Body {
 public:
  explicit Body(Options options)
      : options_(std::move(options)),
        heartbeats_(options_.comms.heartbeats),
        comms_(std::make_unique<parallel::RankComms>(std::move(options_.comms))) {}

  void run() noexcept;
  void post(RankCommand command);
  void close();
  void break_with(const Error& error);
  std::chrono::nanoseconds silent_for() const { return heartbeats_->silent_for(options_.rank); }

  size_t page_bytes = 0;
  size_t state_bytes = 0;

 private:
  Status set_up();
  std::optional<RankCommand> next();
  void fail(Error error);

  Options options_;
  std::shared_ptr<parallel::Heartbeats> heartbeats_;
  std::unique_ptr<device::Device> device_;  // the seat's, with a beat before every call
  std::optional<Rank> rank_;

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<RankCommand> commands_;
  bool closed_ = false;
  std::unique_ptr<parallel::RankComms> comms_;  // null once the thread has left
};

void RankThread::Body::run() noexcept {
  const Status ready = set_up();
  if (!ready) fail(ready.error());
  options_.desk->done(options_.rank, kSetUp);
  bool works = ready.has_value();
  while (const auto command = next()) {
    if (works) {
      if (command->pass) comms_->begin_pass(command->pass->number());
      const Status done = execute(*rank_, *command);
      works = done.has_value();
      if (!works) fail(done.error());
    }
    options_.desk->done(options_.rank, command->number);
  }
  rank_.reset();  // the caches go while the owner may still hold the rest
  {
    const std::lock_guard lock(mutex_);
    comms_.reset();
  }
  options_.desk->ended(options_.rank);
}

Status RankThread::Body::set_up() {
  const RankSeat& seat = options_.seat;
  parallel::RankComms& comms = *comms_;
  device_ = device::watch_device(seat.device,
                                 {.times = seat.times, .before_call = [&comms] { comms.beat(); }});
  RETURN_IF_ERROR(device_->bind_thread());
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(*device_, *seat.model, options_.memory));
  rank_.emplace(*device_, *seat.model, comms, std::move(memory));
  page_bytes = rank_->page_bytes();
  state_bytes = rank_->state_bytes();
  RETURN_IF_ERROR(parallel::self_test(comms, *device_, options_.comm));
  const std::lock_guard lock(mutex_);  // others may break what is wrapped here
  if (options_.fault) parallel::inject_fault(comms, *options_.fault, options_.gate);
  if (seat.times) parallel::time_comms(comms, seat.times);
  return {};
}

// Whatever others say of this rank, they know it by its number.
void RankThread::Body::fail(Error error) {
  const parallel::RankNames names(options_.comm.names.size(), options_.comm.names);
  if (error.where.empty()) {  // nothing but that it is told to end
    error = parallel::ended_rank(names, options_.rank);
  } else if (parallel::failed_ranks(names, error).ranks.empty()) {
    error.where = names[options_.rank] + ", " + error.where;
  }
  comms_->break_with(error);
  options_.desk->fail(std::move(error));
}

std::optional<RankCommand> RankThread::Body::next() {
  const WorkTimer timer(options_.seat.times.get(), Work::idle);
  std::unique_lock lock(mutex_);
  posted_.wait(lock, [this] { return closed_ || !commands_.empty(); });
  if (closed_) return {};
  RankCommand command = std::move(commands_.front());
  commands_.pop_front();
  comms_->beat();
  return command;
}

void RankThread::Body::post(RankCommand command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  posted_.notify_one();
}

void RankThread::Body::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  posted_.notify_one();
}

void RankThread::Body::break_with(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (comms_) comms_->break_with(error);
}

RankThread::RankThread(Options options)
    : body_(std::make_shared<Body>(std::move(options))), thread_([body = body_] { body->run(); }) {}

RankThread::RankThread(RankThread&&) noexcept = default;

RankThread::~RankThread() {
  if (thread_.joinable()) thread_.join();
}

void RankThread::post(RankCommand command) { body_->post(std::move(command)); }

size_t RankThread::page_bytes() const { return body_->page_bytes; }

size_t RankThread::state_bytes() const { return body_->state_bytes; }

void RankThread::break_with(const Error& error) { body_->break_with(error); }

std::chrono::nanoseconds RankThread::silent_for() const { return body_->silent_for(); }

void RankThread::close() { body_->close(); }

void RankThread::give_up() { thread_.detach(); }

}  // namespace evener::engine
