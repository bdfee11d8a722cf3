// AWQ, the "gemm" form: codes of 4 bits, a scale and a zero point for each group of inputs of each
// output.
//     weight[o, i] = scale[g, o] * (code[i, o] - zero[g, o])            g = i div group_size
// Tensors: .qweight I32 [in, out / 8] and .qzeros I32 [groups, out / 8]: eight neighbouring outputs
// in a word, from the lowest bits on outputs 0, 2, 4, 6, 1, 3, 5, 7; .scales [groups, out].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "safetensors/grouped.h"
#include "safetensors/layouts.h"

namespace evener::safetensors {
namespace {

constexpr size_t kPerWord = 8;
// Where the codes of outputs 0 .. 7 stand in a word.
constexpr std::array<uint32_t, kPerWord> kShifts = {0, 16, 4, 20, 8, 24, 12, 28};

class AwqMatrix final : public CodedMatrix {
 public:
  AwqMatrix(const Folder& folder, const Tensor& codes, const GroupedParts& grouped,
            const Groups& groups)
      : CodedMatrix(codes.shape[1] * kPerWord, codes.shape[0],
                    {&codes, grouped.zeros, &grouped.scales.tensor()}),
        folder_(&folder),
        codes_(&codes),
        grouped_(grouped),
        groups_(groups) {}

  Status check_values() const override { return grouped_.scales.check_finite(*folder_); }

  void decode(size_t begin, size_t count, float* values) const override {
    for (size_t group = 0; group < groups_.count; ++group) {
      for (size_t k = 0; k < count; ++k) {
        decode_group(group, begin + k, values + k * inputs() + group * groups_.size);
      }
    }
  }

  std::optional<DType> block_format() const override;
  void repack(DType format, size_t begin, size_t count, std::byte* blocks) const override;

 private:
  // Of row `row` of a tensor of words.
  int32_t code_at(const Tensor& words, size_t row, size_t output) const {
    const auto word = number_at<uint32_t>(words.bytes, row * words.shape[1] + output / kPerWord);
    return static_cast<int32_t>(word >> kShifts[output % kPerWord] & 15u);
  }

  void decode_group(size_t group, size_t output, float* values) const {
    const float scale = grouped_.scales[group * outputs() + output];
    const int32_t zero = code_at(*grouped_.zeros, group, output);
    for (size_t i = 0; i < groups_.size; ++i) {
      const int32_t code = code_at(*codes_, group * groups_.size + i, output);
      values[i] = static_cast<float>(code - zero) * scale;
    }
  }

  const Folder* folder_;
  const Tensor* codes_;
  GroupedParts grouped_;
  Groups groups_;
};

std::optional<DType> AwqMatrix::block_format() const {
  bool zeros_are_8 = true;
  float scale_max = 0;
  for (size_t group = 0; group < groups_.count; ++group) {
    for (size_t output = 0; output < outputs(); ++output) {
      zeros_are_8 = zeros_are_8 && code_at(*grouped_.zeros, group, output) == 8;
      scale_max = std::max(scale_max, std::abs(grouped_.scales[group * outputs() + output]));
    }
  }
  return block_format_of({.group_size = groups_.size,
                          .scales = grouped_.scales,
                          .scale_max = scale_max,
                          .zeros_are_8 = zeros_are_8});
}

void AwqMatrix::repack(DType format, size_t begin, size_t count, std::byte* blocks) const {
  const auto scales = grouped_.scales.tensor().bytes;
  const size_t block_bytes = evener::info(format).block_bytes;
  const size_t row_bytes = inputs() / kBlockInputs * block_bytes;
  for (size_t input = 0; input < inputs(); input += kBlockInputs) {
    const size_t group = input / groups_.size;
    for (size_t k = 0; k < count; ++k) {
      const size_t output = begin + k;
      BlockCodes codes{};
      for (size_t i = 0; i < codes.size(); ++i) {
        const int32_t low = code_at(*codes_, input + i, output);
        const int32_t high = code_at(*codes_, input + i + codes.size(), output);
        codes[i] = static_cast<uint8_t>(low | high << 4);
      }
      put_block(format, number_at<uint16_t>(scales, group * outputs() + output),
                code_at(*grouped_.zeros, group, output), codes,
                blocks + k * row_bytes + input / kBlockInputs * block_bytes);
    }
  }
}

Result<std::unique_ptr<CodedMatrix>> open_awq(const Folder& folder, std::string_view stem,
                                              const Tensor& codes, const QuantConfig& config) {
  RETURN_IF_ERROR(check_codes(folder, codes));
  ASSIGN_OR_RETURN(const Groups groups, groups_of(folder, codes, codes.shape[0], config));
  ASSIGN_OR_RETURN(const GroupedParts grouped,
                   find_grouped_parts(folder, stem, codes.shape[1] * kPerWord, groups, config));
  return std::make_unique<AwqMatrix>(folder, codes, grouped, groups);
}

}  // namespace

const Layout awq = {.method = QuantConfig::Method::awq, .codes = ".qweight", .open = open_awq};

}  // namespace evener::safetensors
