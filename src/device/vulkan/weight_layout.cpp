#include "device/vulkan/weight_layout.h"

#include <algorithm>
#include <cstring>

namespace evener::device::vulkan {
namespace {

constexpr WeightLayout kLayouts[] = {
    {DType::F32, 32, 128, 0, 0, 0},       {DType::F16, 32, 64, 0, 0, 0},
    {DType::BF16, 32, 64, 0, 0, 0},       {DType::Q4_0, 32, 16, 2, 0, 32},
    {DType::Q4_1, 32, 20, 0, 0, 32},      {DType::Q5_0, 32, 20, 2, 0, 32},
    {DType::Q5_1, 32, 24, 0, 0, 32},      {DType::Q8_0, 32, 32, 2, 0, 32},
    {DType::Q2_K, 256, 84, 0, 0, 256},    {DType::Q3_K, 256, 108, 2, 108, 256},
    {DType::Q4_K, 256, 144, 0, 0, 256},   {DType::Q5_K, 256, 176, 0, 0, 256},
    {DType::Q6_K, 256, 208, 2, 208, 256}, {DType::IQ1_S, 256, 48, 2, 0, 256},
    {DType::IQ1_M, 256, 56, 0, 0, 256},   {DType::IQ2_XXS, 256, 64, 2, 0, 256},
    {DType::IQ2_XS, 256, 72, 2, 0, 256},  {DType::IQ2_S, 256, 80, 2, 0, 256},
    {DType::IQ3_XXS, 256, 96, 2, 0, 256}, {DType::IQ3_S, 256, 108, 2, 0, 256},
    {DType::IQ4_NL, 32, 16, 2, 0, 32},    {DType::IQ4_XS, 256, 136, 0, 0, 256},
    {DType::TQ1_0, 256, 52, 2, 52, 256},  {DType::TQ2_0, 256, 64, 2, 64, 256},
    {DType::MXFP4, 32, 16, 1, 0, 32},     {DType::NVFP4, 64, 36, 0, 0, 32},
    {DType::Q1_0, 128, 16, 2, 0, 32},     {DType::Q2_0, 64, 16, 2, 0, 32},
};

// Floats: whole blocks of a row, the last one filled up.
void pack_floats(const WeightLayout& layout, std::span<const std::byte> bytes, size_t inputs,
                 size_t first, size_t count, std::byte* to) {
  const size_t value_bytes = layout.body_bytes / layout.block_size;
  const size_t blocks_of_row = layout.blocks_of_row(inputs);
  for (size_t i = first; i < first + count; ++i, to += layout.body_bytes) {
    const size_t column = i % blocks_of_row * layout.block_size;
    const size_t values = std::min(layout.block_size, inputs - column);
    const size_t from = (i / blocks_of_row * inputs + column) * value_bytes;
    std::memcpy(to, bytes.data() + from, values * value_bytes);
    std::memset(to + values * value_bytes, 0, (layout.block_size - values) * value_bytes);
  }
}

}  // namespace

const WeightLayout* find_weight_layout(DType dtype) {
  const auto* const found = std::ranges::find(kLayouts, dtype, &WeightLayout::dtype);
  return found == std::end(kLayouts) ? nullptr : found;
}

void pack_blocks(const WeightLayout& layout, std::span<const std::byte> bytes, size_t inputs,
                 size_t first, size_t count, const PackedBlocks& to) {
  if (layout.is_float()) return pack_floats(layout, bytes, inputs, first, count, to.body);
  const size_t block_bytes = layout.body_bytes + layout.head_bytes;
  const std::byte* from = bytes.data() + first * block_bytes;
  if (layout.head_bytes == 0) {
    std::memcpy(to.body, from, count * block_bytes);
    return;
  }
  const size_t before = layout.head_at;
  for (size_t i = 0; i < count; ++i, from += block_bytes) {
    std::byte* const body = to.body + i * layout.body_bytes;
    std::memcpy(body, from, before);
    std::memcpy(body + before, from + before + layout.head_bytes, layout.body_bytes - before);
    std::memcpy(to.heads + i * layout.head_bytes, from + before, layout.head_bytes);
  }
}

}  // namespace evener::device::vulkan
