#include "bench/client/token_counter.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace evener::bench {
namespace {

uint32_t clamped(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

uint32_t TokenCounter::take(const Chunk& chunk) {
  if (chunk.num_ids) {
    by_ids_ = true;
    num_waiting_ += *chunk.num_ids;
  }
  if (!chunk.has_output) return 0;
  if (by_ids_) return clamped(std::exchange(num_waiting_, 0));
  by_total_ = by_total_ && chunk.num_so_far.has_value();
  if (!by_total_) return 0;
  const uint64_t before = num_counted_;
  num_counted_ = std::max(before, *chunk.num_so_far);
  return clamped(num_counted_ - before);
}

}  // namespace evener::bench
