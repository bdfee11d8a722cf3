#pragma once

#include <cstdint>
#include <optional>

namespace evener::bench {

// How many tokens each event of a stream carries, where the server tells: by ids (or
// log-probabilities) in the event, or by a count of all so far in every event. A server that
// counts in its last event alone tells nothing about any single one.
class TokenCounter {
 public:
  struct Chunk {
    std::optional<uint64_t> num_ids;     // in this chunk
    std::optional<uint64_t> num_so_far;  // in the answer, this chunk included
    bool has_output = false;
  };
  // Tokens of the event of this chunk, those of chunks without output before it included. 0: not
  // known, or it has no output.
  uint32_t take(const Chunk& chunk);

 private:
  bool by_ids_ = false;
  bool by_total_ = true;  // until an output comes without
  uint64_t num_waiting_ = 0;
  uint64_t num_counted_ = 0;
};

}  // namespace evener::bench
