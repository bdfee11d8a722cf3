#include "engine/serve_commands.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "engine/rank_link.h"
#include "engine/rank_wire.h"

namespace evener::engine {
namespace {

// Room for what the command reads. Error: corrupt: what it writes is not of this rank's size.
Status prepare(RankCommand& command, const SeatedRank& rank) {
  const size_t size = is_of_page(command.kind) ? rank.page_bytes() : rank.state_bytes();
  if (is_read(command.kind)) command.bytes = std::make_shared<RankCommand::Bytes>(size);
  if (command.kind == RankCommand::Kind::read_expert_uses) {
    command.uses = std::make_shared<std::vector<RankCommand::ExpertUses>>(1);
  }
  if (!command.bytes || command.bytes->size() == size) return {};
  return Error{.code = Code::corrupt,
               .doing = "do what process 0 asks",
               .where = {},
               .why = fmt::format("{} bytes are to be written where {} are kept",
                                  command.bytes->size(), size),
               .remedy = {}};
}

RankAnswer answer_to_set_up(const SeatedRank& rank, const Status& ready) {
  RankAnswer answer{.number = kSetUp};
  if (ready) {
    answer.page_bytes = rank.page_bytes();
    answer.state_bytes = rank.state_bytes();
  } else {
    answer.error = ready.error();
  }
  return answer;
}

// The result is there only on the rank that has the logits.
RankAnswer answer_to(RankCommand& command, const Status& done) {
  RankAnswer answer{.number = command.number};
  if (!done) {
    answer.error = done.error();
    return answer;
  }
  if (command.pass) answer.result = std::move(command.pass->result);
  if (command.bytes) answer.bytes = std::move(*command.bytes);
  if (command.uses) answer.uses = std::move(command.uses->front());
  return answer;
}

}  // namespace

Status serve_commands(parallel::MpiWorld& world, SeatedRank::Options options) {
  SeatedRank rank(std::move(options));
  const Status ready = rank.set_up();
  RETURN_IF_ERROR(world.send_bytes(0, to_bytes(answer_to_set_up(rank, ready))));
  RETURN_IF_ERROR(ready);
  for (;;) {
    ASSIGN_OR_RETURN(const auto bytes, world.receive_bytes(0));
    if (bytes.empty()) break;
    ASSIGN_OR_RETURN(RankCommand command, command_from(bytes));
    RETURN_IF_ERROR(prepare(command, rank));
    rank.beat();
    const Status done = rank.execute(command);
    if (is_answered(command.kind)) {
      RETURN_IF_ERROR(world.send_bytes(0, to_bytes(answer_to(command, done))));
    }
    RETURN_IF_ERROR(done);
  }
  rank.leave();
  return world.send_bytes(0, {});
}

}  // namespace evener::engine
