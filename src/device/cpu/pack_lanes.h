#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device/cpu/pack_block.h"

namespace evener::device::cpu {

// The part of a packed block that begins `lane_bytes` bytes a lane behind its start, seen from one
// lane: values of a type follow each other one per lane.
template <class T>
class LaneArray {
 public:
  LaneArray(std::byte* packed, size_t lane_bytes, LanePlace place)
      : first_(packed + lane_bytes * place.num_lanes + place.lane * sizeof(T)),
        step_(place.num_lanes * sizeof(T)) {}

  void set(size_t index, T value) { std::memcpy(first_ + index * step_, &value, sizeof value); }

 private:
  std::byte* first_;
  size_t step_;
};

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Copies `count` neighbouring values to one lane each `num_lanes` values apart.
template <class T>
void spread(const std::byte* from, size_t count, LaneArray<T> to) {
  for (size_t i = 0; i < count; ++i) to.set(i, read<T>(from + i * sizeof(T)));
}

// The file's bit 4 s + i is that of input i of step s; packed it is bit s of byte i.
inline uint32_t by_input(uint32_t bits) {
  uint32_t result = 0;
  for (size_t step = 0; step < 8; ++step) {
    for (size_t i = 0; i < 4; ++i) result |= (bits >> (4 * step + i) & 1u) << (8 * i + step);
  }
  return result;
}

// Indices of a codebook, kBits bits each: for every point those of eight lanes lie one behind the
// other, lowest bit first, from `lane_bytes` bytes a lane on. The memory was zeroed.
template <size_t kBits>
class LaneIndices {
 public:
  LaneIndices(std::byte* packed, size_t lane_bytes, LanePlace place)
      : eight_(packed + lane_bytes * place.num_lanes + place.lane / 8 * kBits),
        step_(place.num_lanes * kBits / 8),
        shift_(place.lane % 8 * kBits) {}

  void set(size_t point, uint32_t index) {
    std::byte* const at = eight_ + point * step_ + shift_ / 8;
    const uint32_t shifted = index << (shift_ % 8);
    for (size_t i = 0; i < 3 && shifted >> (8 * i) != 0; ++i)
      at[i] |= std::byte(shifted >> (8 * i));
  }

 private:
  std::byte* eight_;
  size_t step_;
  size_t shift_;
};

}  // namespace evener::device::cpu
