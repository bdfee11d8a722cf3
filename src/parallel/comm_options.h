#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace evener::parallel {

// How ranks deal with each other. The same on all ranks of a grid.
struct CommOptions {
  // A rank that is waited for and shows no sign of life for so long breaks the grid.
  std::chrono::milliseconds deadline{10000};

  std::vector<std::string> names = {};  // one a rank, for messages: "rank 1 (cpu:1)"

  // All-reduces up to this size are summed by every rank; of larger ones each rank sums its share.
  // The sums are the same bits. bench/comm_bench.cpp: 1.7 us both ways with two ranks at 4 KiB.
  size_t one_shot_bytes = size_t{4} << 10;

  // Larger tensors travel in pieces of so many bytes.
  size_t piece_bytes = size_t{256} << 10;
};

}  // namespace evener::parallel
