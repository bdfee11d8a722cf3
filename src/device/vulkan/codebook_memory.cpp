#include "device/vulkan/codebook_memory.h"

#include <cstddef>
#include <cstring>

#include "quant/iq1_grid.h"
#include "quant/iq2_grids.h"
#include "quant/iq3_grids.h"

namespace evener::device::vulkan {
namespace {

template <size_t kDims, size_t kPoints, class Code>
void append(std::vector<uint8_t>& bytes, const quant::Grid<kDims, kPoints>& grid, Code code) {
  for (size_t i = 0; i < kPoints; ++i) {
    for (size_t j = 0; j < kDims; ++j) bytes.push_back(uint8_t(code(int(grid[i][j]))));
  }
}

}  // namespace

std::vector<uint32_t> codebook_words() {
  const auto same = [](int x) { return x; };
  std::vector<uint8_t> bytes;
  append(bytes, quant::iq1_grid, [](int x) { return 8 * x + 16; });
  append(bytes, quant::iq2_xxs_grid, same);
  append(bytes, quant::iq2_xs_grid, same);
  append(bytes, quant::iq2_s_grid, same);
  append(bytes, quant::iq3_xxs_grid, same);
  append(bytes, quant::iq3_s_grid, same);
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace evener::device::vulkan
