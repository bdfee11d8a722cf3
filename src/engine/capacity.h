#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace evener::engine {

// a + b, or the largest size_t: sizes from files add up to anything.
size_t saturated_sum(size_t a, size_t b);

// What a model needs and the machine has, in bytes where not said otherwise.
struct CapacityRequest {
  std::string where;  // the model, for messages
  size_t weight_bytes = 0;
  size_t scratch_bytes = 0;  // activations of the largest pass
  size_t bytes_per_page = 0;
  size_t bytes_per_slot = 0;     // 0 in models without recurrent layers
  size_t page_size = 0;          // positions
  size_t context_length = 0;     // tokens of the longest sequence that is wanted, >= 1
  bool context_is_must = false;  // the user named it: less is an error
  size_t max_sequences = 0;      // wanted, >= 1
  size_t available_bytes = 0;
};

// What keeps a sequence from being longer.
enum class LengthLimit { wanted, memory };

struct Capacity {
  size_t num_pages = 0;
  size_t num_slots = 0;  // of recurrent states: one a sequence, the others for snapshots
  size_t max_sequences = 0;
  size_t admissible_tokens = 0;  // of one sequence, prompt and answer together
  LengthLimit limit = LengthLimit::wanted;
};

// Shares out the memory: first weights, scratch and one sequence of the wanted length, then room
// for more sequences and for snapshots of recurrent states, as far as it goes. Without
// context_is_must the length shrinks to what fits, but not below kContextMin or the wanted length.
// Error: out_of_memory, with the sum.
inline constexpr size_t kContextMin = 512;
Result<Capacity> plan_capacity(const CapacityRequest& request);

}  // namespace evener::engine
