#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "engine/rank.h"
#include "engine/stored_pass.h"

namespace evener::engine {

// What a rank is asked to do. All ranks of a model get the same commands in the same order. What a
// command points to is shared, so that a rank that has been given up finds it when it goes on.
struct RankCommand {
  enum class Kind {
    run,
    clear_state,  // `to`
    copy_state,   // `from` to `to`
    write_page,   // `bytes` to page `to`
    write_state,  // `bytes` to slot `to`
    read_page,    // page `from` to `bytes`
    read_state,   // slot `from` to `bytes`
    read_expert_uses,
    reset_expert_uses,
  };
  using Bytes = std::vector<std::byte>;
  using ExpertUses = std::vector<std::vector<uint64_t>>;

  Kind kind = Kind::run;
  uint64_t number = 0;  // counts up by one from command to command
  int32_t from = -1;
  int32_t to = -1;
  std::shared_ptr<StoredPass> pass = {};
  std::shared_ptr<Bytes> bytes = {};                   // of all ranks, one behind the other
  size_t first_byte = 0;                               // of this rank's
  size_t rank = 0;                                     // who is asked
  std::shared_ptr<std::vector<ExpertUses>> uses = {};  // by rank
};

// Whether it is a page that the command reads or writes; else, if it does either, a state.
bool is_of_page(RankCommand::Kind kind);
bool is_read(RankCommand::Kind kind);
bool is_written(RankCommand::Kind kind);

// Error: as Rank::run().
Status execute(Rank& rank, const RankCommand& command);

}  // namespace evener::engine
