#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace evener::device {

// Neighbouring tokens of one sequence within a pass: rows [first_row, first_row + num_rows) stand
// at positions first_position, first_position + 1, ...
struct Slice {
  size_t first_row = 0;
  size_t num_rows = 0;
  size_t first_position = 0;
  std::span<const int32_t> pages;  // of the sequence; position p lies in pages[p / page_size]
  int32_t state_slot = -1;         // of the recurrent layers; -1 in models without them
};

// The ragged batch of one pass. Slices cover all rows in order and are of different sequences.
struct Batch {
  std::span<const Slice> slices;
  size_t num_rows = 0;
};

}  // namespace evener::device
