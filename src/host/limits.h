#pragma once

#include <cstddef>
#include <cstdint>

// What no machine exceeds. Larger numbers in a file are damage or an attack; below these, sums of a
// few addresses and sizes cannot overflow.

namespace evener::host {

inline constexpr uint64_t kAddressMax = (uint64_t{1} << 57) - 1;  // of five-level paging
inline constexpr unsigned kAddressBitsMax = 64;
inline constexpr unsigned kSocketsMax = 1024;
inline constexpr unsigned kNodesMax = 65'535;
inline constexpr unsigned kCpuNumberMax = 0xfff;  // a family or a model, as cpuid gives them
inline constexpr size_t kFunctionsMax = 65'536;   // of one PCI domain

}  // namespace evener::host
