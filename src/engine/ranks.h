#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/rank_pass.h"
#include "engine/ranks_report.h"

namespace evener::engine {

// What ranks are like after a failure.
enum class Restart {
  same_layout,
  other_layout,  // bytes of pages and states that were read before mean nothing to these ranks
};

// All ranks of a model, as the step loop sees them: one after the other they do what they are asked
// for, and several may be at different passes at a time. One thread.
//
// A failure (a rank that has ended, is late, or computes other numbers than its peers) is told by
// end() and the reading calls: nothing is in flight any more then and what the caches held is lost.
// restart() is the only thing to call after it.
class Ranks {
 public:
  virtual ~Ranks() = default;

  // Passes that may have begun and not ended; above 1 where stages work on different ones.
  virtual size_t depth() const = 0;

  // Hands the pass to the ranks, behind all that was asked before; does not wait for them. What it
  // points to may change after the call.
  virtual void begin(const RankPass& pass) = 0;

  // Waits for the oldest pass that has begun and returns what it gave, valid until the next end().
  // Error: unavailable, naming the rank and what it did.
  virtual Result<const PassResult*> end() = 0;

  // In order with the passes. The recurrent state before the first token; a state for two to go on
  // from.
  virtual void clear_state(int32_t slot) = 0;
  virtual void copy_state(int32_t from, int32_t to) = 0;

  // What one page and one state take in all layers of all ranks; 0 in models without. Their bytes,
  // rank by rank. Reading waits for all before it. Error: unavailable, as end().
  virtual size_t page_bytes() const = 0;
  virtual size_t state_bytes() const = 0;
  virtual void write_page(int32_t page, std::span<const std::byte> bytes) = 0;
  virtual void write_state(int32_t slot, std::span<const std::byte> bytes) = 0;
  virtual Status read_page(int32_t page, std::span<std::byte> bytes) = 0;
  virtual Status read_state(int32_t slot, std::span<std::byte> bytes) = 0;

  // How often each expert was chosen since the last reset: [layers][experts]; empty in models
  // without. Both wait as reading does; after a failure they say and do nothing.
  virtual std::vector<std::vector<uint64_t>> expert_uses() = 0;
  virtual void reset_expert_uses() = 0;

  // After a failure: makes the ranks anew, with empty caches, in the same layout or, where options
  // allow it, in one that still works. May wait before it does. Errors: unavailable, what keeps
  // them from running, for good; cancelled, after interrupt().
  virtual Result<Restart> restart() = 0;

  // From any thread, before the end: a restart() that waits ends, and later ones do nothing.
  virtual void interrupt() = 0;

  // From any thread.
  virtual RanksReport report() const = 0;
};

}  // namespace evener::engine
