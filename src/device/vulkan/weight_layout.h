#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/dtype.h"

namespace evener::device::vulkan {

// How weights of a type lie on the card: their blocks as the file has them, row after row, but for
// the scale of blocks whose size is no multiple of four. Those scales, `head_bytes` from `head_at`
// on, lie behind the bodies of all blocks, so that kernels read whole words alone. Rows of floats
// are filled up with zeros to blocks of 32.
struct WeightLayout {
  DType dtype;
  size_t block_size;  // weights
  size_t body_bytes;  // of a block
  size_t head_bytes;  // of a block; 0: all of it is body
  size_t head_at;     // in the file's block
  size_t sharing;     // activations that share a scale: 32 or 256; 0: they stay floats

  bool is_float() const { return sharing == 0; }
  size_t blocks_of_row(size_t inputs) const { return (inputs + block_size - 1) / block_size; }
};

// Null: no kernel takes weights of this type.
const WeightLayout* find_weight_layout(DType dtype);

// Blocks [first, first + count) of a matrix whose rows have `inputs` weights, from the file's bytes
// to where they go: body_bytes and head_bytes each.
struct PackedBlocks {
  std::byte* body;
  std::byte* heads;
};
void pack_blocks(const WeightLayout& layout, std::span<const std::byte> bytes, size_t inputs,
                 size_t first, size_t count, const PackedBlocks& to);

}  // namespace evener::device::vulkan
