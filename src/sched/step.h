#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evener::sched {

using SequenceId = uint64_t;

// Neighbouring tokens of one sequence: positions [first_position, first_position + num_tokens).
struct Slice {
  enum class Kind {
    prompt,  // tokens that the request brought
    decode,  // the token that the sequence was given last
  };
  // Which rows' logits somebody will look at.
  enum class Logits { none, last, all };

  SequenceId sequence = 0;
  size_t first_position = 0;
  size_t num_tokens = 0;
  Kind kind = Kind::prompt;
  Logits logits = Logits::none;
};

// What all ranks execute next: a ragged batch, immutable once issued. Slices are of different
// sequences. An empty step means that nothing can run.
struct Step {
  uint64_t number = 0;               // from 1, without gaps among steps that are not empty
  std::vector<SequenceId> admitted;  // left the queue with this step, in order of arrival
  std::vector<Slice> slices;

  bool empty() const { return slices.empty(); }
};

}  // namespace evener::sched
