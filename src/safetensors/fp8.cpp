// FP8: one 8-bit float a weight, and scales for blocks, for outputs or for the whole matrix.
//     weight[o, i] = e4m3(code[o, i]) * scale[o div block_outputs, i div block_inputs]
// Tensors: .weight F8_E4M3 [out, in]; .weight_scale_inv (what it multiplies with, in spite of its
// name) or .weight_scale, [blocks of out, blocks of in], [out], [out, 1], [1] or a number alone.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "safetensors/layouts.h"
#include "safetensors/scales.h"
#include "tensor/float8.h"

namespace evener::safetensors {
namespace {

constexpr std::array<float, 256> make_values() {
  std::array<float, 256> values{};
  for (unsigned code = 0; code < 256; ++code) values[code] = f8_e4m3_to_f32(uint8_t(code));
  return values;
}

constexpr std::array<float, 256> kValues = make_values();

// Outputs and inputs that share a scale, and scales in a row of blocks.
struct Blocks {
  size_t outputs = 1;
  size_t inputs = 1;
  size_t per_row = 1;
};

class Fp8Matrix final : public CodedMatrix {
 public:
  Fp8Matrix(const Folder& folder, const Tensor& codes, const Scales& scales, const Blocks& blocks,
            std::vector<const Tensor*> parts)
      : CodedMatrix(codes.shape[0], codes.shape[1], std::move(parts)),
        folder_(&folder),
        codes_(codes.bytes),
        scales_(scales),
        blocks_(blocks) {}

  Status check_values() const override { return scales_.check_finite(*folder_); }

  void decode(size_t begin, size_t count, float* values) const override {
    for (size_t output = begin; output < begin + count; ++output) {
      const auto row = codes_.subspan(output * inputs(), inputs());
      const size_t first_scale = output / blocks_.outputs * blocks_.per_row;
      for (size_t block = 0; block * blocks_.inputs < inputs(); ++block) {
        const float scale = scales_[first_scale + block];
        const size_t end = std::min(inputs(), (block + 1) * blocks_.inputs);
        for (size_t input = block * blocks_.inputs; input < end; ++input) {
          *values++ = kValues[std::to_integer<uint8_t>(row[input])] * scale;
        }
      }
    }
  }

 private:
  const Folder* folder_;
  std::span<const std::byte> codes_;
  Scales scales_;
  Blocks blocks_;
};

// How many outputs and inputs share a scale follows from how many scales there are.
Result<Blocks> blocks_of(const Folder& folder, const Tensor& codes, const Tensor& scales,
                         const QuantConfig& config) {
  const uint64_t outputs = codes.shape[0];
  const uint64_t inputs = codes.shape[1];
  const std::vector<uint64_t>& shape = scales.shape;
  if (scales.num_elements() == 1) return Blocks{.outputs = outputs, .inputs = inputs};
  const bool is_column = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (is_column && shape[0] == outputs) return Blocks{.outputs = 1, .inputs = inputs};
  const uint64_t block_rows = (outputs + config.block_outputs - 1) / config.block_outputs;
  const uint64_t block_columns = (inputs + config.block_inputs - 1) / config.block_inputs;
  if (shape.size() == 2 && shape[0] == block_rows && shape[1] == block_columns) {
    return Blocks{
        .outputs = config.block_outputs, .inputs = config.block_inputs, .per_row = block_columns};
  }
  return folder.tensor_error(
      scales, fmt::format("has shape {}, codes {} in blocks of {} x {} ask for [{}, {}]",
                          shape_text(shape), shape_text(codes.shape), config.block_outputs,
                          config.block_inputs, block_rows, block_columns));
}

Result<std::unique_ptr<CodedMatrix>> open_fp8(const Folder& folder, std::string_view stem,
                                              const Tensor& codes, const QuantConfig& config) {
  RETURN_IF_ERROR(check_element(folder, codes, Element::F8_E4M3));
  if (codes.shape.size() != 2 || codes.num_elements() == 0) {
    return folder.tensor_error(
        codes, fmt::format("has shape {}, which is no matrix", shape_text(codes.shape)));
  }
  const Tensor* scale_tensor = folder.find(fmt::format("{}.weight_scale_inv", stem));
  if (scale_tensor == nullptr) {
    ASSIGN_OR_RETURN(scale_tensor, find_part(folder, stem, ".weight_scale"));
  }
  ASSIGN_OR_RETURN(const Scales scales, Scales::of(folder, *scale_tensor));
  ASSIGN_OR_RETURN(const Blocks blocks, blocks_of(folder, codes, *scale_tensor, config));
  std::vector<const Tensor*> parts = {&codes, scale_tensor};
  // Scales for inputs that were rounded as well: ours are not.
  const Tensor* input_scale = folder.find(fmt::format("{}.input_scale", stem));
  if (input_scale != nullptr) parts.push_back(input_scale);
  return std::make_unique<Fp8Matrix>(folder, codes, scales, blocks, std::move(parts));
}

}  // namespace

const Layout fp8 = {.method = QuantConfig::Method::fp8, .codes = ".weight", .open = open_fp8};

}  // namespace evener::safetensors
