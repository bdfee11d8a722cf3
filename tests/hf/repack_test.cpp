// Codes of 4 bits go into GGUF's block formats as they are. Method: a golden Q4_0 file written as a
// GPTQ folder must come back bit by bit; AWQ blocks are decoded by quant and by safetensors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "hf/golden_folder.h"
#include "hf/open_folder.h"
#include "safetensors/layout.h"
#include "tensor/float16.h"

namespace evener::hf {
namespace {

using test::GoldenFolder;

constexpr size_t kBlockBytes = 18;  // of Q4_0: a half and 16 bytes
constexpr size_t kBlockSize = 32;

// Stored row `row` of a matrix of the folder, as a row of the GGUF file.
using FromRow = size_t (*)(size_t row);

size_t same_row(size_t row) { return row; }

// Heads of 64: row k and row k + 32 of the folder are neighbours in the file.
size_t rotary_row(size_t row) {
  const size_t k = row % 64;
  return row / 64 * 64 + (k < 32 ? 2 * k : 2 * (k - 32) + 1);
}

void add_gptq(safetensors::FolderWriter& writer, const std::string& stem,
              const gguf::Tensor& tensor, FromRow from) {
  const size_t inputs = tensor.shape[0];
  const size_t outputs = tensor.shape[1];
  const size_t groups = inputs / kBlockSize;
  std::vector<uint32_t> codes(inputs / 8 * outputs);
  std::vector<uint16_t> scales(groups * outputs);
  for (size_t output = 0; output < outputs; ++output) {
    for (size_t group = 0; group < groups; ++group) {
      const std::byte* const block =
          tensor.bytes.data() + (from(output) * groups + group) * kBlockBytes;
      std::memcpy(&scales[group * outputs + output], block, sizeof(uint16_t));
      for (size_t i = 0; i < kBlockSize; ++i) {
        const auto pair = std::to_integer<uint32_t>(block[2 + i % 16]);
        const uint32_t code = i < 16 ? pair & 15u : pair >> 4;
        const size_t input = group * kBlockSize + i;
        codes[input / 8 * outputs + output] |= code << (input % 8 * 4);
      }
    }
  }
  const std::vector<uint32_t> zeros(groups * outputs / 8, 0x77777777);  // 8, stored less one
  writer.add<uint32_t>(stem + ".qweight", "I32", {inputs / 8, outputs}, codes);
  writer.add<uint32_t>(stem + ".qzeros", "I32", {groups, outputs / 8}, zeros);
  writer.add<uint16_t>(stem + ".scales", "F16", {groups, outputs}, scales);
}

TEST(Repack, GivesASymmetricGptqMatrixTheBitsOfQ4_0) {
  const std::string up = "model.layers.0.mlp.up_proj";
  const std::string query = "model.layers.0.self_attn.q_proj";
  GoldenFolder golden("llama256-Q4_0", {.left_out = {up + ".weight", query + ".weight"}});
  ASSERT_EQ(*golden.file().get_uint("llama.attention.key_length"), 64u);
  const gguf::Tensor& want_up = *golden.file().find_tensor("blk.0.ffn_up.weight");
  const gguf::Tensor& want_query = *golden.file().find_tensor("blk.0.attn_q.weight");
  ASSERT_EQ(want_up.dtype, DType::Q4_0);
  add_gptq(golden.writer, up, want_up, same_row);
  add_gptq(golden.writer, query, want_query, rotary_row);
  golden.writer.write();
  nlohmann::json config = golden.config();
  config["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}};
  golden.writer.write_file("config.json", config.dump());

  const auto folder = open_folder(golden.path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  for (const gguf::Tensor* want : {&want_up, &want_query}) {
    const gguf::Tensor* const got = folder->find_tensor(want->name);
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(got->dtype, DType::Q4_0);
    EXPECT_EQ(got->stored_as, "GPTQ int4");
    std::vector<std::byte> room;
    const auto bytes = folder->read(*got, room);
    ASSERT_TRUE(bytes.has_value()) << to_string(bytes.error());
    ASSERT_EQ(bytes->size(), want->bytes.size());
    EXPECT_EQ(std::memcmp(bytes->data(), want->bytes.data(), bytes->size()), 0) << want->name;
  }
}

// 64 inputs in two groups, 8 outputs, any codes and zero points.
TEST(Repack, GivesAnAwqMatrixTheCodesOfQ4_1) {
  safetensors::FolderWriter writer;
  std::vector<uint32_t> codes(64);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = uint32_t(i + 1) * 0x9e3779b1u;
  std::vector<uint16_t> scales(16);
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = f32_to_f16(0.013F * float(i + 1));
  writer.add<uint32_t>("m.qweight", "I32", {64, 1}, codes);
  writer.add<uint32_t>("m.qzeros", "I32", {2, 1}, {0x12f84a60u, 0x7b3c05d9u});
  writer.add<uint16_t>("m.scales", "F16", {2, 8}, scales);
  const safetensors::Folder folder = writer.open();
  safetensors::QuantConfig config;
  config.method = safetensors::QuantConfig::Method::awq;
  config.group_size = 32;
  const auto matrix = safetensors::open_coded(folder, "m", config);
  ASSERT_TRUE(matrix.has_value()) << to_string(matrix.error());
  ASSERT_EQ((*matrix)->block_format(), DType::Q4_1);

  std::vector<float> want(8 * 64);
  (*matrix)->decode(0, 8, want.data());
  std::vector<std::byte> blocks(8 * 2 * 20);
  (*matrix)->repack(DType::Q4_1, 0, 8, blocks.data());
  std::vector<float> got(8 * 64);
  quant::find_format(DType::Q4_1)->decode(blocks, got.data());
  for (size_t i = 0; i < want.size(); ++i) {
    const float scale = f16_to_f32(scales[i % 64 / 32 * 8 + i / 64]);
    EXPECT_NEAR(got[i], want[i], double(scale) * 15 * 0x1p-11) << i;
  }
}

}  // namespace
}  // namespace evener::hf
