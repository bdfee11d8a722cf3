#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/ids.h"
#include "cache/residency.h"
#include "cache/transfer.h"
#include "sched/virtual_time.h"

namespace evener::sched {

using cache::SequenceId;

// Neighbouring tokens of one sequence: positions [first_position, first_position + num_tokens).
struct Slice {
  enum class Kind {
    prompt,  // tokens that the request brought; after a retraction, the answer so far as well
    decode,  // the token that the sequence was given last
  };
  // Which rows' logits somebody will look at.
  enum class Logits { none, last, all };

  SequenceId sequence = 0;
  size_t first_position = 0;
  size_t num_tokens = 0;
  Kind kind = Kind::prompt;
  Logits logits = Logits::none;

  size_t position_end() const { return first_position + num_tokens; }
};

// A sequence that has left the queue.
struct Admission {
  SequenceId sequence = 0;
  cache::Match match;    // what of it need not be computed
  Duration waited{};     // in the queue, this time
  bool resumed = false;  // it ran before and was sent back
};

// What all ranks execute next: transfers in their order, then a ragged batch. Slices are of
// different sequences. Immutable once issued.
struct Step {
  uint64_t number = 0;  // from 1, without gaps among steps that are not empty
  std::vector<Admission> admitted;
  std::vector<SequenceId> retracted;  // sent back to the queue, to make room for others
  std::vector<cache::Transfer> transfers;
  std::vector<Slice> slices;

  // Nothing to execute. Admissions and retractions may have taken place all the same.
  bool empty() const { return slices.empty() && transfers.empty(); }
};

}  // namespace evener::sched
