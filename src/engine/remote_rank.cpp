#include "engine/remote_rank.h"

#include <algorithm>
#include <utility>

#include "engine/rank_wire.h"
#include "parallel/rank_errors.h"

namespace evener::engine {

RemoteRank::RemoteRank(parallel::MpiWorld& world, size_t rank, std::shared_ptr<RankDesk> desk)
    : world_(world), rank_(rank), desk_(std::move(desk)), listener_([this] { listen(); }) {}

RemoteRank::~RemoteRank() {
  if (listener_.joinable()) listener_.join();
}

void RemoteRank::post(RankCommand command) {
  const bool is_page =
      command.kind == RankCommand::Kind::read_page || command.kind == RankCommand::Kind::write_page;
  const auto bytes = to_bytes(command, is_page ? page_bytes_ : state_bytes_);
  const bool answered = is_answered(command.kind);
  if (answered) {
    const std::lock_guard lock(mutex_);
    unanswered_.push_back(std::move(command));
  }
  const Status sent = send_message(world_, rank_, bytes);
  if (!sent) desk_->fail(sent.error());
}

std::chrono::nanoseconds RemoteRank::silent_for() const {
  return world_.heartbeats()->silent_for(rank_);
}

// The last message is an empty one.
void RemoteRank::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  (void)send_message(world_, rank_, {});  // where it does not arrive, the world is broken
}

void RemoteRank::give_up() {
  world_.break_with(parallel::ended_rank(parallel::RankNames(1, {world_.name(rank_)}), 0));
}

void RemoteRank::listen() noexcept {
  for (;;) {
    const Status taken = take_answer();
    if (taken) continue;
    const std::unique_lock lock(mutex_);
    if (!closed_) desk_->fail(taken.error());
    break;
  }
  desk_->ended(rank_);
}

Status RemoteRank::take_answer() {
  ASSIGN_OR_RETURN(const auto bytes, receive_message(world_, rank_));
  ASSIGN_OR_RETURN(RankAnswer answer, answer_from(bytes));
  if (answer.error) return *answer.error;
  if (answer.number == kSetUp) {
    page_bytes_ = answer.page_bytes;
    state_bytes_ = answer.state_bytes;
    desk_->done(rank_, kSetUp);
    return {};
  }
  RankCommand command;
  {
    const std::lock_guard lock(mutex_);
    if (unanswered_.empty() || unanswered_.front().number != answer.number) {
      return Error{.code = Code::corrupt,
                   .doing = "talk to another process",
                   .where = world_.name(rank_),
                   .why = "it answers what it was not asked",
                   .remedy = {}};
    }
    command = std::move(unanswered_.front());
    unanswered_.pop_front();
  }
  if (command.bytes) {
    const size_t room = command.bytes->size() - command.first_byte;
    std::ranges::copy_n(answer.bytes.begin(),
                        static_cast<std::ptrdiff_t>(std::min(room, answer.bytes.size())),
                        command.bytes->begin() + static_cast<std::ptrdiff_t>(command.first_byte));
  }
  if (command.pass && !answer.logits.empty()) command.pass->logits = std::move(answer.logits);
  if (command.uses) (*command.uses)[rank_] = std::move(answer.uses);
  desk_->done(rank_, answer.number);
  return {};
}

}  // namespace evener::engine
