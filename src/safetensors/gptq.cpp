// GPTQ: codes of 4 or 8 bits, a scale and a zero point for each group of inputs of each output.
//     weight[o, i] = scale[g, o] * (code[i, o] - zero[g, o])            g = g_idx[i]
// Tensors: .qweight I32 [in / n, out], n = 32 / bits codes of neighbouring inputs in a word, the
// first in the lowest bits; .qzeros I32 [groups, out / n]; .scales [groups, out]; .g_idx I32 [in],
// which may be absent: then i div group_size. Old files (checkpoint_format gptq) store zero - 1 in
// as many bits, so that what is 0 reads as all ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "safetensors/grouped.h"
#include "safetensors/layouts.h"

namespace evener::safetensors {
namespace {

class GptqMatrix final : public CodedMatrix {
 public:
  struct Sources {
    const Folder* folder = nullptr;
    const Tensor* codes = nullptr;
    GroupedParts grouped;
    const Tensor* group_index = nullptr;  // null: groups follow each other
  };

  GptqMatrix(const Sources& sources, const Groups& groups, const QuantConfig& config,
             std::vector<const Tensor*> parts)
      : CodedMatrix(sources.codes->shape[1], sources.codes->shape[0] * (32 / config.bits),
                    std::move(parts)),
        sources_(sources),
        groups_(groups),
        bits_(static_cast<uint32_t>(config.bits)),
        zero_offset_(config.zeros_less_one ? 1 : 0) {}

  Status check_values() const override;
  void decode(size_t begin, size_t count, float* values) const override;
  std::optional<DType> block_format() const override;
  void repack(DType format, size_t begin, size_t count, std::byte* blocks) const override;

 private:
  // What a group of one output has.
  struct GroupValues {
    float scale = 0;
    int32_t zero = 0;
  };

  uint32_t mask() const { return (uint32_t{1} << bits_) - 1; }
  size_t group_of(size_t input) const {
    const Tensor* index = sources_.group_index;
    return index == nullptr ? input / groups_.size
                            : static_cast<size_t>(number_at<int32_t>(index->bytes, input));
  }
  GroupValues group_values(size_t group, size_t output) const;
  bool groups_follow_each_other() const;
  BlockCodes block_codes(size_t input, size_t output) const;
  uint32_t code_word(size_t input, size_t output) const {
    return number_at<uint32_t>(sources_.codes->bytes, input / (32 / bits_) * outputs() + output);
  }

  Sources sources_;
  Groups groups_;
  uint32_t bits_;
  uint32_t zero_offset_;
};

Status GptqMatrix::check_values() const {
  RETURN_IF_ERROR(sources_.grouped.scales.check_finite(*sources_.folder));
  if (sources_.group_index == nullptr) return {};
  for (size_t input = 0; input < inputs(); ++input) {
    const auto group = number_at<int32_t>(sources_.group_index->bytes, input);
    if (group >= 0 && static_cast<size_t>(group) < groups_.count) continue;
    return sources_.folder->tensor_error(
        *sources_.group_index,
        fmt::format("input {} is in group {}, there are {}", input, group, groups_.count));
  }
  return {};
}

GptqMatrix::GroupValues GptqMatrix::group_values(size_t group, size_t output) const {
  const size_t per_word = 32 / bits_;
  const auto word = number_at<uint32_t>(sources_.grouped.zeros->bytes,
                                        group * (outputs() / per_word) + output / per_word);
  const uint32_t stored = word >> (output % per_word * bits_) & mask();
  return {.scale = sources_.grouped.scales[group * outputs() + output],
          .zero = static_cast<int32_t>((stored + zero_offset_) & mask())};
}

void GptqMatrix::decode(size_t begin, size_t count, float* values) const {
  const size_t per_word = 32 / bits_;
  std::vector<GroupValues> of_group(groups_.count * count);  // [groups, count]
  for (size_t group = 0; group < groups_.count; ++group) {
    for (size_t k = 0; k < count; ++k) {
      of_group[group * count + k] = group_values(group, begin + k);
    }
  }
  for (size_t input = 0; input < inputs(); ++input) {
    const size_t first_word = input / per_word * outputs() + begin;
    const uint32_t shift = static_cast<uint32_t>(input % per_word) * bits_;
    const GroupValues* const group = &of_group[group_of(input) * count];
    for (size_t k = 0; k < count; ++k) {
      const auto word = number_at<uint32_t>(sources_.codes->bytes, first_word + k);
      const auto code = static_cast<int32_t>(word >> shift & mask());
      values[k * inputs() + input] = static_cast<float>(code - group[k].zero) * group[k].scale;
    }
  }
}

bool GptqMatrix::groups_follow_each_other() const {
  for (size_t input = 0; input < inputs(); ++input) {
    if (group_of(input) != input / groups_.size) return false;
  }
  return true;
}

std::optional<DType> GptqMatrix::block_format() const {
  if (bits_ != 4 || !groups_follow_each_other()) return std::nullopt;
  bool zeros_are_8 = true;
  float scale_max = 0;
  for (size_t group = 0; group < groups_.count; ++group) {
    for (size_t output = 0; output < outputs(); ++output) {
      const GroupValues values = group_values(group, output);
      zeros_are_8 = zeros_are_8 && values.zero == 8;
      scale_max = std::max(scale_max, std::abs(values.scale));
    }
  }
  return block_format_of({.group_size = groups_.size,
                          .scales = sources_.grouped.scales,
                          .scale_max = scale_max,
                          .zeros_are_8 = zeros_are_8});
}

BlockCodes GptqMatrix::block_codes(size_t input, size_t output) const {
  BlockCodes codes{};
  for (size_t i = 0; i < codes.size(); ++i) {
    const uint32_t shift = static_cast<uint32_t>(i % 8) * 4;
    const uint32_t low = code_word(input + i, output) >> shift & 15u;
    const uint32_t high = code_word(input + i + codes.size(), output) >> shift & 15u;
    codes[i] = static_cast<uint8_t>(low | high << 4);
  }
  return codes;
}

void GptqMatrix::repack(DType format, size_t begin, size_t count, std::byte* blocks) const {
  const auto scales = sources_.grouped.scales.tensor().bytes;
  const size_t block_bytes = evener::info(format).block_bytes;
  const size_t row_bytes = inputs() / kBlockInputs * block_bytes;
  for (size_t input = 0; input < inputs(); input += kBlockInputs) {
    const size_t group = input / groups_.size;
    for (size_t k = 0; k < count; ++k) {
      const size_t output = begin + k;
      put_block(format, number_at<uint16_t>(scales, group * outputs() + output),
                group_values(group, output).zero, block_codes(input, output),
                blocks + k * row_bytes + input / kBlockInputs * block_bytes);
    }
  }
}

Result<std::unique_ptr<CodedMatrix>> open_gptq(const Folder& folder, std::string_view stem,
                                               const Tensor& codes, const QuantConfig& config) {
  RETURN_IF_ERROR(check_codes(folder, codes));
  const uint64_t per_word = 32 / config.bits;
  const uint64_t outputs = codes.shape[1];
  if (outputs % per_word != 0) {
    return folder.tensor_error(codes, fmt::format("has {} outputs, whose zero points fill no whole "
                                                  "number of words of {}",
                                                  outputs, per_word));
  }
  const uint64_t inputs = codes.shape[0] * per_word;
  ASSIGN_OR_RETURN(const Groups groups, groups_of(folder, codes, inputs, config));
  ASSIGN_OR_RETURN(const GroupedParts grouped,
                   find_grouped_parts(folder, stem, outputs, groups, config));
  std::vector<const Tensor*> parts = {&codes, grouped.zeros, &grouped.scales.tensor()};
  const Tensor* group_index = folder.find(fmt::format("{}.g_idx", stem));
  if (group_index != nullptr) {
    RETURN_IF_ERROR(check_element(folder, *group_index, Element::I32));
    const std::array<uint64_t, 1> index_shape = {inputs};
    RETURN_IF_ERROR(check_shape(folder, *group_index, index_shape));
    parts.push_back(group_index);
  }
  const GptqMatrix::Sources sources{
      .folder = &folder, .codes = &codes, .grouped = grouped, .group_index = group_index};
  return std::make_unique<GptqMatrix>(sources, groups, config, std::move(parts));
}

}  // namespace

const Layout gptq = {.method = QuantConfig::Method::gptq, .codes = ".qweight", .open = open_gptq};

}  // namespace evener::safetensors
