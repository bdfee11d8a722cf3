#include "engine/rank_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace evener::engine {

// Shared by the thread and its owner: whoever is last frees it.
class RankThread::Body {
 public:
  Body(SeatedRank::Options options, std::shared_ptr<RankDesk> desk)
      : rank(std::move(options)), desk_(std::move(desk)) {}

  void run() noexcept;
  void post(RankCommand command);
  void close();

  SeatedRank rank;
  size_t page_bytes = 0;
  size_t state_bytes = 0;

 private:
  std::optional<RankCommand> next();

  std::shared_ptr<RankDesk> desk_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<RankCommand> commands_;
  bool closed_ = false;
};

void RankThread::Body::run() noexcept {
  const Status ready = rank.set_up();
  if (ready) {
    page_bytes = rank.page_bytes();
    state_bytes = rank.state_bytes();
  } else {
    desk_->fail(ready.error());
  }
  desk_->done(rank.number(), kSetUp);
  bool works = ready.has_value();
  while (const auto command = next()) {
    if (works) {
      const Status done = rank.execute(*command);
      works = done.has_value();
      if (!works) desk_->fail(done.error());
    }
    desk_->done(rank.number(), command->number);
  }
  rank.leave();  // while the owner may still hold the rest
  desk_->ended(rank.number());
}

std::optional<RankCommand> RankThread::Body::next() {
  const WorkTimer timer(rank.times(), Work::idle);
  std::unique_lock lock(mutex_);
  posted_.wait(lock, [this] { return closed_ || !commands_.empty(); });
  if (closed_) return {};
  RankCommand command = std::move(commands_.front());
  commands_.pop_front();
  rank.beat();
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

RankThread::RankThread(SeatedRank::Options options, std::shared_ptr<RankDesk> desk)
    : body_(std::make_shared<Body>(std::move(options), std::move(desk))),
      thread_([body = body_] { body->run(); }) {}

RankThread::~RankThread() {
  if (thread_.joinable()) thread_.join();
}

void RankThread::post(RankCommand command) { body_->post(std::move(command)); }

size_t RankThread::page_bytes() const { return body_->page_bytes; }

size_t RankThread::state_bytes() const { return body_->state_bytes; }

void RankThread::break_with(const Error& error) { body_->rank.break_with(error); }

std::chrono::nanoseconds RankThread::silent_for() const { return body_->rank.silent_for(); }

void RankThread::close() { body_->close(); }

void RankThread::give_up() { thread_.detach(); }

}  // namespace evener::engine
