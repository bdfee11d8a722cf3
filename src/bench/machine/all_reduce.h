#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::bench {

// Devices for ranks that sum between them: one a NUMA node, or two cores of the only one. Fewer
// than two where the machine has a single core.
Result<std::vector<std::string>> devices_to_sum_over();

struct AllReduceTimes {
  std::vector<double> seconds;  // of one call, a sample each; fewer after an interrupt
  uint64_t num_wrong = 0;       // values that were not the sum, over all ranks
};

// Sums tensors of so many bytes over ranks that are threads bound to these devices. Short calls are
// made many times a sample. One call before each sample is compared value by value on every rank.
// Errors: those of making the devices; out_of_memory; unavailable (a rank did not come).
Result<AllReduceTimes> time_all_reduce(const std::vector<std::string>& devices, size_t size_bytes,
                                       size_t num_samples, const std::atomic<bool>& stop);

// What RCCL's tests call the bus bandwidth: bytes that every rank has to send and to receive, a
// second, 2 (n - 1) / n of the tensor's.
inline double bus_bandwidth(size_t num_ranks, size_t size_bytes, double seconds) {
  const auto n = double(num_ranks);
  return 2 * (n - 1) / n * double(size_bytes) / seconds;
}

}  // namespace evener::bench
