#include "engine/rank_command.h"

#include <span>

namespace evener::engine {
namespace {

using Kind = RankCommand::Kind;

std::span<std::byte> own_bytes(const RankCommand& command, size_t size_bytes) {
  return std::span(*command.bytes).subspan(command.first_byte, size_bytes);
}

}  // namespace

bool is_of_page(Kind kind) { return kind == Kind::read_page || kind == Kind::write_page; }
bool is_read(Kind kind) { return kind == Kind::read_page || kind == Kind::read_state; }
bool is_written(Kind kind) { return kind == Kind::write_page || kind == Kind::write_state; }

Status execute(Rank& rank, const RankCommand& command) {
  switch (command.kind) {
    case Kind::run:
      return rank.run(command.pass->pass(), command.pass->result);
    case Kind::clear_state:
      rank.clear_state(command.to);
      break;
    case Kind::copy_state:
      rank.copy_state(command.from, command.to);
      break;
    case Kind::write_page:
      rank.write_page(command.to, own_bytes(command, rank.page_bytes()));
      break;
    case Kind::write_state:
      rank.write_state(command.to, own_bytes(command, rank.state_bytes()));
      break;
    case Kind::read_page:
      return rank.read_page(command.from, own_bytes(command, rank.page_bytes()));
    case Kind::read_state:
      return rank.read_state(command.from, own_bytes(command, rank.state_bytes()));
    case Kind::read_expert_uses:
      (*command.uses)[command.rank] = rank.expert_uses();
      break;
    case Kind::reset_expert_uses:
      rank.reset_expert_uses();
      break;
  }
  return {};
}

}  // namespace evener::engine
