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

// The file's bit 4 s + i is that of input i of step s; packed it is a bit of byte i: bit s / 2 in
// even steps, 4 + s / 2 in odd ones. Where eight neighbouring bits, two steps, have an even sum,
// the last of them can be left out: these are the four uppermost ones of the packed word.
inline uint32_t signs_by_input(uint32_t bits) {
  uint32_t result = 0;
  for (size_t step = 0; step < 8; ++step) {
    for (size_t i = 0; i < 4; ++i) {
      result |= (bits >> (4 * step + i) & 1u) << (8 * i + step / 2 + step % 2 * 4);
    }
  }
  return result;
}

// Indices of a codebook, kBits bits each, from `lane_bytes` bytes a lane on: first the lower eight
// bits of all, a byte each. The bits above are in bytes that sixteen (of two bits) or 32 points (of
// one) share: neighbouring four points, [4][lane], have neighbouring bits of them, from the lowest
// on. Of three, two come first and then the third. The memory was zeroed.
template <size_t kBits, size_t kPoints>
class LaneIndices {
 public:
  LaneIndices(std::byte* packed, size_t lane_bytes, LanePlace place)
      : bytes_(packed + lane_bytes * place.num_lanes + place.lane), step_(place.num_lanes) {}

  void set(size_t point, uint32_t index) {
    bytes_[point * step_] = std::byte(index);
    if constexpr (kBits == 9) add(kPoints, 1, point, index >> 8);
    if constexpr (kBits >= 10) add(kPoints, 2, point, index >> 8 & 3u);
    if constexpr (kBits == 11) add(kPoints + kPoints / 4, 1, point, index >> 10);
  }

 private:
  void add(size_t from, size_t num_bits, size_t point, uint32_t bits) {
    const size_t four = point / 4;
    const size_t in_byte = 8 / num_bits;
    const size_t at = from + four / in_byte * 4 + point % 4;
    bytes_[at * step_] |= std::byte(bits << (four % in_byte * num_bits));
  }

  std::byte* bytes_;
  size_t step_;
};

}  // namespace evener::device::cpu
