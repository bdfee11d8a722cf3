#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "safetensors/layout.h"
#include "safetensors/scales.h"
#include "tensor/dtype.h"

namespace evener::safetensors {

// What GPTQ and AWQ have in common: .scales [groups, out], .qzeros [groups, out * bits / 32].
struct Groups {
  size_t size = 0;  // inputs of a group
  size_t count = 0;
};

// The tensors beside the codes, of the right type and shape for `outputs`.
struct GroupedParts {
  const Tensor* zeros = nullptr;
  Scales scales;
};

// Groups of `inputs`. Error: corrupt if group_size does not divide them.
Result<Groups> groups_of(const Folder& folder, const Tensor& codes, uint64_t inputs,
                         const QuantConfig& config);

Result<GroupedParts> find_grouped_parts(const Folder& folder, std::string_view stem,
                                        uint64_t outputs, const Groups& groups,
                                        const QuantConfig& config);

// 32 neighbouring inputs of an output in Q4_0 or, with a minimum, Q4_1: byte i has the codes of
// inputs i and i + 16.
inline constexpr size_t kBlockInputs = 32;
using BlockCodes = std::array<uint8_t, kBlockInputs / 2>;

// What of codes of 4 bits is a block format: Q4_0 where all zero points are 8, else Q4_1; nothing
// where groups are no whole blocks, scales no halves or a minimum is beyond them.
struct BlockFormatFacts {
  size_t group_size = 0;
  const Scales& scales;
  float scale_max = 0;  // of the magnitudes
  bool zeros_are_8 = false;
};
std::optional<DType> block_format_of(const BlockFormatFacts& facts);

// Writes one block of `format`; `scale` is a half's bits.
void put_block(DType format, uint16_t scale, int32_t zero, const BlockCodes& codes, std::byte* to);

// The codes' type is I32 and they are a matrix, not empty.
Status check_codes(const Folder& folder, const Tensor& codes);

}  // namespace evener::safetensors
