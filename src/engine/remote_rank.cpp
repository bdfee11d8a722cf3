#include "engine/remote_rank.h"

#include <algorithm>
#include <utility>

#include "parallel/rank_errors.h"

namespace evener::engine {

RemoteRank::RemoteRank(parallel::MpiWorld& world, size_t rank, std::shared_ptr<RankDesk> desk)
    : world_(world), rank_(rank), desk_(std::move(desk)), listener_([this] { listen(); }) {}

RemoteRank::~RemoteRank() {
  if (listener_.joinable()) listener_.join();
}

void RemoteRank::post(RankCommand command) {
  const auto bytes = to_bytes(command, size_of(command));
  if (is_answered(command.kind)) {
    const std::lock_guard lock(mutex_);
    unanswered_.push_back(std::move(command));
  }
  const Status sent = world_.send_bytes(rank_, bytes);
  if (!sent) desk_->fail(sent.error());
}

size_t RemoteRank::size_of(const RankCommand& command) const {
  return is_of_page(command.kind) ? page_bytes_ : state_bytes_;
}

std::chrono::nanoseconds RemoteRank::silent_for() const {
  return world_.heartbeats()->silent_for(rank_);
}

// The last command is an empty one, and so is the answer to it.
void RemoteRank::close() {
  const Status sent = world_.send_bytes(rank_, {});
  if (!sent) desk_->fail(sent.error());  // the listener hears of it too
}

void RemoteRank::give_up() {
  const parallel::RankNames name(1, {world_.name(rank_)});
  world_.break_with(parallel::silent_rank(name, 0, silent_for()));
}

void RemoteRank::listen() noexcept {
  for (;;) {
    const auto bytes = world_.receive_bytes(rank_);
    if (bytes && bytes->empty()) break;
    const Status taken = bytes ? take(*bytes) : Status(bytes.error());
    if (taken) continue;
    desk_->fail(taken.error());
    break;
  }
  desk_->ended(rank_);
}

Status RemoteRank::take(std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(RankAnswer answer, answer_from(bytes));
  if (answer.error) return *answer.error;
  if (answer.number == kSetUp) {
    page_bytes_ = answer.page_bytes;
    state_bytes_ = answer.state_bytes;
  } else {
    RETURN_IF_ERROR(hand_over(std::move(answer)));
  }
  desk_->done(rank_, answer.number);
  return {};
}

// What was asked for goes to where the command wanted it.
Status RemoteRank::hand_over(RankAnswer answer) {
  RankCommand command;
  {
    const std::lock_guard lock(mutex_);
    if (unanswered_.empty()) return not_asked();
    command = std::move(unanswered_.front());
    unanswered_.pop_front();
  }
  const size_t size = command.bytes ? size_of(command) : 0;
  if (command.number != answer.number || answer.bytes.size() != size) return not_asked();
  if (command.bytes) {
    std::ranges::copy(answer.bytes, command.bytes->begin() + std::ptrdiff_t(command.first_byte));
  }
  if (command.pass && !answer.result.empty()) command.pass->result = std::move(answer.result);
  if (command.uses) (*command.uses)[rank_] = std::move(answer.uses);
  return {};
}

Error RemoteRank::not_asked() const {
  return {.code = Code::corrupt,
          .doing = "talk to another process",
          .where = world_.name(rank_),
          .why = "it answers what it was not asked",
          .remedy = {}};
}

}  // namespace evener::engine
