#pragma once

#include <cstdint>
#include <vector>

namespace evener::device::vulkan {

// The points of the IQ formats, a byte a coordinate, one codebook behind the other in the order and
// at the words that kernels/weights.glsl names: IQ1 (8 coordinate + 16), IQ2_XXS, IQ2_XS, IQ2_S,
// IQ3_XXS, IQ3_S.
std::vector<uint32_t> codebook_words();

}  // namespace evener::device::vulkan
