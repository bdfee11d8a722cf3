#include "device/stored_weight.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tensor/float16.h"

namespace evener::device {
namespace {

// Places of f16 values in a block.
std::vector<size_t> half_places(DType dtype) {
  switch (dtype) {
    case DType::Q4_1:
    case DType::Q5_1:
    case DType::Q4_K:
    case DType::Q5_K:
      return {0, 2};
    case DType::Q2_K:
      return {80, 82};
    case DType::Q3_K:
      return {108};
    case DType::Q6_K:
      return {208};
    case DType::TQ1_0:
      return {52};
    case DType::TQ2_0:
      return {64};
    case DType::MXFP4:
    case DType::NVFP4:
    case DType::IQ1_M:
      return {};
    default:
      return {0};
  }
}

void put_half(std::byte* at, uint16_t half) { std::memcpy(at, &half, sizeof half); }

uint16_t random_half(std::mt19937& random, DType dtype) {
  const float value = std::normal_distribution<float>(0, 0.05f)(random);
  return dtype == DType::BF16 ? uint16_t(std::bit_cast<uint32_t>(value) >> 16) : f32_to_f16(value);
}

// The half of an IQ1_M block, four bits of which are the upper ones of each of its last four words.
void put_scattered_half(std::byte* block, uint16_t half) {
  for (size_t i = 0; i < 4; ++i) {
    std::byte& upper = block[49 + 2 * i];
    upper = (upper & std::byte(15)) | std::byte((half >> (4 * i) & 15) << 4);
  }
}

}  // namespace

Stored::Stored(DType type, size_t num_outputs, size_t num_inputs, size_t experts)
    : dtype(type),
      outputs(num_outputs),
      inputs(num_inputs),
      num_experts(experts),
      bytes(experts * outputs * inputs / info(type).block_size * info(type).block_bytes) {}

WeightSource Stored::source_of(size_t first_expert, size_t count) const {
  const size_t expert_bytes = bytes.size() / num_experts;
  return {.name = "w",
          .dtype = dtype,
          .outputs = outputs,
          .inputs = inputs,
          .bytes = std::span(bytes).subspan(first_expert * expert_bytes, count * expert_bytes),
          .num_experts = count};
}

void Stored::fill(std::byte byte) { std::ranges::fill(bytes, byte); }

void Stored::set_scales(std::mt19937& random) {
  for (size_t block = 0; block < bytes.size(); block += info(dtype).block_bytes) {
    for (const size_t place : half_places(dtype)) {
      put_half(&bytes[block + place], random_half(random, dtype));
    }
    if (dtype == DType::MXFP4) bytes[block] = std::byte(112 + random() % 16);
    if (dtype == DType::IQ1_M) put_scattered_half(&bytes[block], random_half(random, dtype));
  }
}

void Stored::break_scales() {
  constexpr uint16_t kNan = 0x7e00;
  for (size_t block = 0; block + 1 < bytes.size(); block += info(dtype).block_bytes) {
    for (const size_t place : half_places(dtype)) put_half(&bytes[block + place], kNan);
  }
}

Stored random_weight(std::mt19937& random, DType dtype, size_t outputs, size_t inputs,
                     size_t num_experts) {
  Stored weight(dtype, outputs, inputs, num_experts);
  if (dtype == DType::F32) {
    std::normal_distribution<float> normal(0, 0.05f);
    for (size_t i = 0; i < weight.bytes.size(); i += 4) {
      const float value = normal(random);
      std::memcpy(&weight.bytes[i], &value, 4);
    }
    return weight;
  }
  for (std::byte& byte : weight.bytes) byte = std::byte(random() & 255);
  weight.set_scales(random);
  return weight;
}

}  // namespace evener::device
