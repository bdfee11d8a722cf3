#pragma once

#include <algorithm>
#include <array>
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

// The importance of one block's weights with 1 as the largest, so that sums keep to the range of
// floats, and not quite 0 as the smallest: what seems not to matter still gets a sensible value
// where that costs nothing. Where importance says nothing, all are equal.
template <size_t kValues>
std::array<float, kValues> block_importance(std::span<const float> importance) {
  std::array<float, kValues> result;
  const float largest = importance.empty() ? 0 : *std::ranges::max_element(importance);
  if (!(largest > 0)) {
    result.fill(1);
    return result;
  }
  std::ranges::transform(importance, result.begin(),
                         [&](float q) { return std::max(q / largest, 1e-7f); });
  return result;
}

// Larger weights than this count as this: far beyond what any format with halves as scales can
// hold, and with squares that floats can sum and tell apart.
inline constexpr float kLargestWeight = 1e10f;

// Puts encode(x, q) into `bytes` for each kValues weights x, which count q.
template <class Block, size_t kValues, class Encode>
void encode_each_block(std::span<const float> weights, std::span<const float> importance,
                       std::span<std::byte> bytes, Encode encode, float largest = kLargestWeight) {
  std::array<float, kValues> x;
  for (size_t at = 0; at + kValues <= weights.size(); at += kValues) {
    std::ranges::transform(weights.subspan(at, kValues), x.begin(),
                           [&](float weight) { return std::clamp(weight, -largest, largest); });
    const auto q = block_importance<kValues>(importance.empty() ? importance
                                                                : importance.subspan(at, kValues));
    const Block block = encode(std::span<const float>(x), std::span<const float>(q));
    std::memcpy(bytes.data() + at / kValues * sizeof(Block), &block, sizeof block);
  }
}

}  // namespace evener::quant
