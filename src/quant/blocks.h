#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace evener::quant {

// Calls decode(block, weights) for each Block in `bytes`, with `weights` advancing by kValues.
// Blocks in a mapped file are not aligned: each is copied first.
template <class Block, size_t kValues, class Decode>
void for_each_block(std::span<const std::byte> bytes, float* weights, Decode decode) {
  for (; bytes.size() >= sizeof(Block); bytes = bytes.subspan(sizeof(Block))) {
    Block block;
    std::memcpy(&block, bytes.data(), sizeof block);
    decode(block, weights);
    weights += kValues;
  }
}

}  // namespace evener::quant
