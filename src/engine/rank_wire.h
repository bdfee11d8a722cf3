#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/rank_command.h"

namespace evener::engine {

// Commands to ranks in other processes, and their answers, as bytes. The processes run one program
// on machines of one kind, which they have agreed on before, so numbers lie there as in memory; all
// lengths are checked even so. Errors: corrupt.

// `size_bytes`: of what the command writes, this rank's.
std::vector<std::byte> to_bytes(const RankCommand& command, size_t size_bytes);

// Room for what it reads is left to whoever executes it.
Result<RankCommand> command_from(std::span<const std::byte> bytes);

// What becomes of a command that somebody waits for.
struct RankAnswer {
  uint64_t number = 0;  // of the command; kSetUp for the first
  std::optional<Error> error = {};
  uint64_t page_bytes = 0;  // of the rank, in the first
  uint64_t state_bytes = 0;
  std::vector<std::byte> bytes = {};  // that were read
  PassResult result = {};
  RankCommand::ExpertUses uses = {};
};
bool is_answered(RankCommand::Kind kind);
std::vector<std::byte> to_bytes(const RankAnswer& answer);
Result<RankAnswer> answer_from(std::span<const std::byte> bytes);

}  // namespace evener::engine
