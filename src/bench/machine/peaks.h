#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "device/cpu/kernels/peaks.h"

namespace evener::bench {

// Memory that is in no cache, each part first touched by a thread of `pool`, so that it lies on
// their node.
class BigMemory {
 public:
  BigMemory(ThreadPool& pool, size_t size_bytes);

  size_t size_bytes() const { return num_words_ * sizeof(uint64_t); }
  // Reads all of it once; the sum of its words.
  uint64_t read(ThreadPool& pool) const;

 private:
  size_t num_words_;
  std::unique_ptr<uint64_t[]> words_;
};

// Those that this CPU can run.
std::vector<const device::cpu::Peak*> available_peaks();

// Runs `num_turns` turns on every thread of the pool; a value that the optimiser must believe to be
// of use.
uint64_t multiply_on_all(ThreadPool& pool, const device::cpu::Peak& peak, uint64_t num_turns);

}  // namespace evener::bench
