#include "safetensors/grouped.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace evener::safetensors {

Status check_codes(const Folder& folder, const Tensor& codes) {
  RETURN_IF_ERROR(check_element(folder, codes, Element::I32));
  if (codes.shape.size() == 2 && codes.num_elements() > 0) return {};
  return folder.tensor_error(
      codes, fmt::format("has shape {}, which is no matrix", shape_text(codes.shape)));
}

Result<Groups> groups_of(const Folder& folder, const Tensor& codes, uint64_t inputs,
                         const QuantConfig& config) {
  if (config.group_size == 0) return Groups{.size = inputs, .count = 1};
  if (inputs % config.group_size == 0) {
    return Groups{.size = config.group_size, .count = inputs / config.group_size};
  }
  return folder.tensor_error(codes, fmt::format("has {} inputs, which are no whole number of "
                                                "groups of {}",
                                                inputs, config.group_size));
}

std::optional<DType> block_format_of(const BlockFormatFacts& facts) {
  constexpr float kHalfMax = 65504;
  constexpr float kZeroMax = 15;
  if (facts.group_size % kBlockInputs != 0) return std::nullopt;
  if (facts.scales.tensor().element != Element::F16) return std::nullopt;
  if (facts.zeros_are_8) return DType::Q4_0;
  if (facts.scale_max * kZeroMax > kHalfMax) return std::nullopt;
  return DType::Q4_1;
}

void put_block(DType format, uint16_t scale, int32_t zero, const BlockCodes& codes, std::byte* to) {
  std::memcpy(to, &scale, sizeof scale);
  to += sizeof scale;
  if (format == DType::Q4_1) {
    const uint16_t minimum = f32_to_f16(-f16_to_f32(scale) * static_cast<float>(zero));
    std::memcpy(to, &minimum, sizeof minimum);
    to += sizeof minimum;
  }
  std::memcpy(to, codes.data(), codes.size());
}

Result<GroupedParts> find_grouped_parts(const Folder& folder, std::string_view stem,
                                        uint64_t outputs, const Groups& groups,
                                        const QuantConfig& config) {
  ASSIGN_OR_RETURN(const Tensor* zeros, find_part(folder, stem, ".qzeros"));
  RETURN_IF_ERROR(check_element(folder, *zeros, Element::I32));
  const std::array<uint64_t, 2> zeros_shape = {groups.count, outputs / (32 / config.bits)};
  RETURN_IF_ERROR(check_shape(folder, *zeros, zeros_shape));
  ASSIGN_OR_RETURN(const Tensor* scale_tensor, find_part(folder, stem, ".scales"));
  const std::array<uint64_t, 2> scales_shape = {groups.count, outputs};
  RETURN_IF_ERROR(check_shape(folder, *scale_tensor, scales_shape));
  ASSIGN_OR_RETURN(const Scales scales, Scales::of(folder, *scale_tensor));
  return GroupedParts{.zeros = zeros, .scales = scales};
}

}  // namespace evener::safetensors
