#include "engine/serve_commands.h"

#include <utility>

#include "engine/rank_link.h"
#include "engine/rank_wire.h"

namespace evener::engine {
namespace {

// The logits are there only on the rank that has them.
RankAnswer answer_to(const RankCommand& command, Status done) {
  RankAnswer answer{.number = command.number};
  if (!done) {
    answer.error = std::move(done).error();
    return answer;
  }
  if (command.pass) answer.logits = std::move(command.pass->logits);
  if (command.bytes) answer.bytes = std::move(*command.bytes);
  if (command.uses) answer.uses = std::move(command.uses->front());
  return answer;
}

}  // namespace

Status serve_commands(parallel::MpiWorld& world, SeatedRank::Options options) {
  SeatedRank rank(std::move(options));
  const Status ready = rank.set_up();
  RankAnswer first{.number = kSetUp};
  if (ready) {
    first.page_bytes = rank.page_bytes();
    first.state_bytes = rank.state_bytes();
  } else {
    first.error = ready.error();
  }
  RETURN_IF_ERROR(send_message(world, 0, to_bytes(first)));
  RETURN_IF_ERROR(ready);
  for (;;) {
    ASSIGN_OR_RETURN(const auto bytes, receive_message(world, 0));
    if (bytes.empty()) break;
    ASSIGN_OR_RETURN(const RankCommand command, command_from(bytes));
    rank.beat();
    const Status done = rank.execute(command);
    if (is_answered(command.kind)) {
      RETURN_IF_ERROR(send_message(world, 0, to_bytes(answer_to(command, done))));
    }
    RETURN_IF_ERROR(done);
  }
  rank.leave();
  return {};
}

}  // namespace evener::engine
