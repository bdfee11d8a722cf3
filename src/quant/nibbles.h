#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/scale_search.h"
#include "tensor/float16.h"

namespace evener::quant {

// 32 weights x, which count q, as a Block of a half and 4-bit codes: byte i holds code i in its
// lower and code i + 16 in its upper four bits.
template <class Block, class Levels>
Block encode_nibbles(const Levels& levels, const Reaches& reaches, std::span<const float> x,
                     std::span<const float> q) {
  Block block{.scale = find_half_scale(levels, reaches, x, q), .codes = {}};
  const float inverse = inverse_of(f16_to_f32(block.scale));
  for (size_t i = 0; i < 16; ++i) {
    block.codes[i] = uint8_t(levels.code(x[i] * inverse) | levels.code(x[i + 16] * inverse) << 4);
  }
  return block;
}

}  // namespace evener::quant
