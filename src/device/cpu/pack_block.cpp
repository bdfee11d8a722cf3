#include "device/cpu/pack_block.h"

#include <cstdint>
#include <cstring>

#include "quant/k_scales.h"
#include "tensor/float16.h"

namespace evener::device::cpu {
namespace {

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

template <class T>
void pack_value(const std::byte* block, LanePlace place, std::byte* packed) {
  LaneArray<T>(packed, 0, place).set(0, read<T>(block));
}

void pack_q8_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  spread<uint32_t>(block + 2, 8, {packed, 2, place});
}

void pack_q4_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  spread<uint32_t>(block + 2, 4, {packed, 2, place});
}

void pack_q4_1(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 2, {packed, 0, place});
  spread<uint32_t>(block + 4, 4, {packed, 4, place});
}

// The file's bit 4 s + i is the fifth bit of input i of step s; packed it is bit s of byte i.
uint32_t by_input(uint32_t bits) {
  uint32_t result = 0;
  for (size_t step = 0; step < 8; ++step) {
    for (size_t i = 0; i < 4; ++i) result |= (bits >> (4 * step + i) & 1u) << (8 * i + step);
  }
  return result;
}

void pack_q5_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t>(packed, 2, place).set(0, by_input(read<uint32_t>(block + 2)));
  spread<uint32_t>(block + 6, 4, {packed, 6, place});
}

void pack_q5_1(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 2, {packed, 0, place});
  LaneArray<uint32_t>(packed, 4, place).set(0, by_input(read<uint32_t>(block + 4)));
  spread<uint32_t>(block + 8, 4, {packed, 8, place});
}

// Scales and minima of Q4_K and Q5_K, which are the first 16 bytes of a block.
void pack_k_scales(const std::byte* block, LanePlace place, std::byte* packed) {
  uint8_t sub_scales[12];
  std::memcpy(sub_scales, block + 4, sizeof sub_scales);
  LaneArray<uint16_t>(packed, 0, place).set(0, read<uint16_t>(block));
  const auto negated_min = uint16_t(read<uint16_t>(block + 2) ^ 0x8000u);
  LaneArray<uint16_t>(packed, 2, place).set(0, negated_min);
  LaneArray<uint16_t> scales(packed, 4, place);  // two 8-bit values each
  LaneArray<uint16_t> mins(packed, 12, place);
  for (size_t pair = 0; pair < 4; ++pair) {
    const auto first = quant::k_scale_and_min(sub_scales, 2 * pair);
    const auto second = quant::k_scale_and_min(sub_scales, 2 * pair + 1);
    scales.set(pair, uint16_t(first.scale | second.scale << 8));
    mins.set(pair, uint16_t(first.min | second.min << 8));
  }
}

void pack_q4_k(const std::byte* block, LanePlace place, std::byte* packed) {
  pack_k_scales(block, place, packed);
  spread<uint32_t>(block + 16, 32, {packed, 20, place});
}

void pack_q5_k(const std::byte* block, LanePlace place, std::byte* packed) {
  pack_k_scales(block, place, packed);
  spread<uint32_t>(block + 48, 32, {packed, 20, place});
  spread<uint32_t>(block + 16, 8, {packed, 148, place});
}

void pack_q6_k(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint32_t>(block, 32, {packed, 0, place});
  spread<uint32_t>(block + 128, 16, {packed, 128, place});
  spread<uint16_t>(block + 192, 8, {packed, 192, place});
  LaneArray<float>(packed, 208, place).set(0, f16_to_f32(read<uint16_t>(block + 208)));
}

}  // namespace

PackBlock find_pack_block(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return pack_value<uint32_t>;
    case DType::F16:
      return pack_value<uint16_t>;
    case DType::BF16:
      return pack_value<uint16_t>;
    case DType::Q4_0:
      return pack_q4_0;
    case DType::Q4_1:
      return pack_q4_1;
    case DType::Q5_0:
      return pack_q5_0;
    case DType::Q5_1:
      return pack_q5_1;
    case DType::Q8_0:
      return pack_q8_0;
    case DType::Q4_K:
      return pack_q4_k;
    case DType::Q5_K:
      return pack_q5_k;
    case DType::Q6_K:
      return pack_q6_k;
    default:
      return nullptr;
  }
}

}  // namespace evener::device::cpu
