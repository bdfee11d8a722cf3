#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace evener::device::vulkan {

// Addresses [begin, end) that a command reads or writes.
struct Touched {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Says which commands must wait for those before them: what runs on a card at the same time may not
// write what another reads or writes.
class Hazards {
 public:
  // Whether a barrier belongs in front of a command, which then counts as passed.
  bool needs_barrier(std::span<const Touched> reads, std::span<const Touched> writes);
  void clear();

 private:
  static bool meet(std::span<const Touched> a, std::span<const Touched> b);

  std::vector<Touched> reads_;  // since the last barrier
  std::vector<Touched> writes_;
};

}  // namespace evener::device::vulkan
