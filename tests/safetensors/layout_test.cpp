// Decoded weights against the layouts' formulas, written here a second time and the other way
// round: the tests pack, the decoders unpack. Then everything that scales, zero points and indices
// can get wrong.
#include "safetensors/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "safetensors/folder_writer.h"
#include "tensor/float16.h"

namespace evener::safetensors {
namespace {

using testing::HasSubstr;
using Method = QuantConfig::Method;
using Shape = std::vector<uint64_t>;

constexpr const char* kStem = "m.up_proj";

uint16_t bf16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

// A number that differs from place to place and is exact in every type.
float scale_of(size_t a, size_t b) { return std::ldexp(float(1 + (a * 5 + b * 3) % 13), -6); }

std::string name(std::string_view suffix) { return std::string(kStem).append(suffix); }

// The whole of the matrix, decoded in steps of `step` outputs.
std::vector<float> decoded(const Folder& folder, const QuantConfig& config, size_t step = 1000) {
  const auto matrix = open_coded(folder, kStem, config);
  EXPECT_TRUE(matrix.has_value()) << to_string(matrix.error());
  EXPECT_NE(*matrix, nullptr);
  const auto checked = (*matrix)->check_values();
  EXPECT_TRUE(checked.has_value()) << to_string(checked.error());
  const size_t outputs = (*matrix)->outputs();
  const size_t inputs = (*matrix)->inputs();
  std::vector<float> values(outputs * inputs, NAN);
  for (size_t begin = 0; begin < outputs; begin += step) {
    (*matrix)->decode(begin, std::min(step, outputs - begin), values.data() + begin * inputs);
  }
  return values;
}

// Why the matrix is refused, at opening or when its values are looked at; "" if it is not.
std::string complaint(const Folder& folder, const QuantConfig& config) {
  const auto matrix = open_coded(folder, kStem, config);
  if (!matrix) return to_string(matrix.error());
  if (*matrix == nullptr) return "there is none";
  const auto checked = (*matrix)->check_values();
  return checked ? "" : to_string(checked.error());
}

// ---------------------------------------------------------------------------- FP8

// 5 outputs of 7 inputs. Code 8 e + f is 2^(e - 7) (1 + f / 8).
std::vector<uint8_t> fp8_codes() {
  std::vector<uint8_t> codes;
  for (unsigned i = 0; i < 35; ++i)
    codes.push_back(uint8_t((i * 11 % 120) | (i % 3 == 0 ? 128 : 0)));
  return codes;
}

float fp8_value(uint8_t code) {
  const int exponent = code >> 3 & 15;
  const float fraction = float(code & 7) / 8;
  const float magnitude =
      exponent == 0 ? std::ldexp(fraction, -6) : std::ldexp(1 + fraction, exponent - 7);
  return (code & 128) != 0 ? -magnitude : magnitude;
}

void expect_fp8(const FolderWriter& writer, const QuantConfig& config,
                const std::function<float(size_t, size_t)>& scale) {
  const Folder folder = writer.open();
  const auto codes = fp8_codes();
  for (const size_t step : {1, 2, 5}) {
    const auto values = decoded(folder, config, step);
    ASSERT_EQ(values.size(), 35U);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], fp8_value(codes[i]) * scale(i / 7, i % 7)) << i << ", step " << step;
    }
  }
}

constexpr QuantConfig kFp8 = {.method = Method::fp8, .block_outputs = 2, .block_inputs = 3};

TEST(Fp8, HasAScaleForEachBlock) {
  FolderWriter writer;
  writer.add(name(".weight"), "F8_E4M3", {5, 7}, fp8_codes());
  std::vector<uint16_t> scales;
  for (size_t i = 0; i < 9; ++i) scales.push_back(bf16(scale_of(i / 3, i % 3)));
  writer.add(name(".weight_scale_inv"), "BF16", {3, 3}, scales);
  expect_fp8(writer, kFp8, [](size_t o, size_t i) { return scale_of(o / 2, i / 3); });
}

TEST(Fp8, HasAScaleForEachOutput) {
  for (const Shape& shape : {Shape{5}, Shape{5, 1}}) {
    FolderWriter writer;
    writer.add(name(".weight"), "F8_E4M3", {5, 7}, fp8_codes());
    std::vector<float> scales;
    for (size_t o = 0; o < 5; ++o) scales.push_back(scale_of(o, 0));
    writer.add(name(".weight_scale"), "F32", shape, scales);
    expect_fp8(writer, kFp8, [](size_t o, size_t) { return scale_of(o, 0); });
  }
}

TEST(Fp8, HasOneScale) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {
    FolderWriter writer;
    writer.add(name(".weight"), "F8_E4M3", {5, 7}, fp8_codes());
    writer.add(name(".weight_scale"), "F16", shape, std::vector{f32_to_f16(0.375F)});
    writer.add(name(".input_scale"), "F32", {}, std::vector{1.0F});
    expect_fp8(writer, kFp8, [](size_t, size_t) { return 0.375F; });
    EXPECT_EQ((*open_coded(writer.open(), kStem, kFp8))->parts().size(), 3U);
  }
}

std::string fp8_complaint(std::string_view dtype, const Shape& codes, std::string_view scale_type,
                          const Shape& scales, float scale = 1) {
  size_t num_codes = 1;
  for (const uint64_t dim : codes) num_codes *= dim;
  size_t num_scales = 1;
  for (const uint64_t dim : scales) num_scales *= dim;
  FolderWriter writer;
  writer.add(name(".weight"), dtype, codes, std::vector<uint8_t>(num_codes));
  if (scale_type == "F32") {
    writer.add(name(".weight_scale_inv"), scale_type, scales, std::vector(num_scales, scale));
  } else if (!scale_type.empty()) {
    writer.add(name(".weight_scale_inv"), scale_type, scales, std::vector<int32_t>(num_scales));
  }
  return complaint(writer.open(), kFp8);
}

TEST(Fp8, ScalesMustFit) {
  EXPECT_EQ(fp8_complaint("F8_E4M3", {5, 7}, "F32", {3, 3}), "");
  EXPECT_THAT(fp8_complaint("F8_E4M3", {5, 7}, "F32", {3, 4}),
              HasSubstr("model.safetensors, tensor 'm.up_proj.weight_scale_inv': has shape [3, 4], "
                        "codes [5, 7] in blocks of 2 x 3 ask for [3, 3]"));
  EXPECT_THAT(fp8_complaint("F8_E4M3", {5, 7}, "F32", {7}), HasSubstr("has shape [7]"));
  EXPECT_THAT(fp8_complaint("F8_E4M3", {5, 7}, "F32", {0}), HasSubstr("has shape [0]"));
  EXPECT_THAT(fp8_complaint("F8_E4M3", {5, 7}, "I32", {3, 3}),
              HasSubstr("has type I32, scales are F32, F16 or BF16"));
  EXPECT_THAT(fp8_complaint("F8_E4M3", {5, 7}, "", {}),
              HasSubstr("tensor 'm.up_proj.weight_scale': is missing beside its codes"));
}

TEST(Fp8, ScalesMustBeNumbers) {
  for (const float scale :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(fp8_complaint("F8_E4M3", {5, 7}, "F32", {3, 3}, scale),
                HasSubstr("tensor 'm.up_proj.weight_scale_inv': scale 0 is not a finite number"));
  }
}

TEST(Fp8, CodesMustBeAMatrixOfE4m3) {
  EXPECT_THAT(fp8_complaint("F8_E5M2", {5, 7}, "F32", {3, 3}),
              HasSubstr("tensor 'm.up_proj.weight': has type F8_E5M2, not F8_E4M3"));
  EXPECT_THAT(fp8_complaint("F8_E4M3", {35}, "F32", {3, 3}), HasSubstr("which is no matrix"));
  EXPECT_THAT(fp8_complaint("F8_E4M3", {0, 7}, "F32", {0, 3}), HasSubstr("which is no matrix"));
}

// ----------------------------------------------------------------------- GPTQ, AWQ

// A matrix as both layouts see it.
struct Grouped {
  size_t outputs = 16;
  size_t inputs = 48;
  size_t group = 16;
  uint32_t bits = 4;

  size_t num_groups() const { return inputs / group; }
  uint32_t code(size_t input, size_t output) const {
    return uint32_t(input * 7 + output * 3) % (uint32_t{1} << bits);
  }
  uint32_t zero(size_t g, size_t output) const {
    return uint32_t(g * 5 + output * 11 + 1) % (uint32_t{1} << bits);
  }
  float weight(size_t output, size_t input, size_t g) const {
    return (float(code(input, output)) - float(zero(g, output))) * scale_of(g, output);
  }
};

std::vector<uint16_t> half_scales(const Grouped& m) {
  std::vector<uint16_t> scales;
  for (size_t g = 0; g < m.num_groups(); ++g) {
    for (size_t o = 0; o < m.outputs; ++o) scales.push_back(f32_to_f16(scale_of(g, o)));
  }
  return scales;
}

// Codes of neighbouring inputs share a word.
std::vector<uint32_t> gptq_codes(const Grouped& m) {
  const size_t per_word = 32 / m.bits;
  std::vector<uint32_t> words(m.inputs / per_word * m.outputs);
  for (size_t i = 0; i < m.inputs; ++i) {
    for (size_t o = 0; o < m.outputs; ++o) {
      words[i / per_word * m.outputs + o] |= m.code(i, o) << (m.bits * (i % per_word));
    }
  }
  return words;
}

// Zero points of neighbouring outputs share a word, each stored `less` too small.
std::vector<uint32_t> gptq_zeros(const Grouped& m, uint32_t less) {
  const size_t per_word = 32 / m.bits;
  std::vector<uint32_t> words(m.num_groups() * m.outputs / per_word);
  for (size_t g = 0; g < m.num_groups(); ++g) {
    for (size_t o = 0; o < m.outputs; ++o) {
      const uint32_t stored = (m.zero(g, o) - less) & ((uint32_t{1} << m.bits) - 1);
      words[(g * m.outputs + o) / per_word] |= stored << (m.bits * (o % per_word));
    }
  }
  return words;
}

struct GptqCase {
  Grouped matrix = {};
  bool zeros_less_one = true;
  std::vector<int32_t> group_index = {};  // empty: no tensor
};

void add_gptq(FolderWriter& writer, const GptqCase& c) {
  const Grouped& m = c.matrix;
  const size_t per_word = 32 / m.bits;
  writer.add(name(".qweight"), "I32", {m.inputs / per_word, m.outputs}, gptq_codes(m));
  writer.add(name(".qzeros"), "I32", {m.num_groups(), m.outputs / per_word},
             gptq_zeros(m, c.zeros_less_one ? 1 : 0));
  writer.add(name(".scales"), "F16", {m.num_groups(), m.outputs}, half_scales(m));
  if (!c.group_index.empty()) {
    writer.add(name(".g_idx"), "I32", {c.group_index.size()}, c.group_index);
  }
}

QuantConfig gptq_config(const GptqCase& c) {
  return {.method = Method::gptq,
          .bits = c.matrix.bits,
          .group_size = c.matrix.group,
          .zeros_less_one = c.zeros_less_one};
}

void expect_gptq(const GptqCase& c) {
  FolderWriter writer;
  add_gptq(writer, c);
  const Folder folder = writer.open();
  const Grouped& m = c.matrix;
  for (const size_t step : {1, 3, 16}) {
    const auto values = decoded(folder, gptq_config(c), step);
    ASSERT_EQ(values.size(), m.outputs * m.inputs);
    for (size_t o = 0; o < m.outputs; ++o) {
      for (size_t i = 0; i < m.inputs; ++i) {
        const size_t g = c.group_index.empty() ? i / m.group : size_t(c.group_index[i]);
        ASSERT_EQ(values[o * m.inputs + i], m.weight(o, i, g)) << o << " " << i << " " << step;
      }
    }
  }
}

TEST(Gptq, OldFilesStoreZeroPointsLessOne) { expect_gptq({}); }

TEST(Gptq, LaterFilesStoreZeroPointsAsTheyAre) { expect_gptq({.zeros_less_one = false}); }

TEST(Gptq, HasCodesOfEightBitsToo) {
  expect_gptq({.matrix = {.bits = 8}});
  expect_gptq({.matrix = {.bits = 8}, .zeros_less_one = false});
}

TEST(Gptq, AllInputsMayBeOneGroup) {
  GptqCase c{.matrix = {.group = 48}};
  expect_gptq(c);
  FolderWriter writer;
  add_gptq(writer, c);
  QuantConfig config = gptq_config(c);
  config.group_size = 0;
  EXPECT_EQ(decoded(writer.open(), config), decoded(writer.open(), gptq_config(c)));
}

TEST(Gptq, InputsMayBeInGroupsOfAnyOrder) {
  GptqCase c;
  for (size_t i = 0; i < c.matrix.inputs; ++i) c.group_index.push_back(int32_t(i * 5 % 3));
  expect_gptq(c);
}

TEST(Gptq, GroupsOfInputsMustExist) {
  for (const int32_t bad : {-1, 3, std::numeric_limits<int32_t>::min(), 1 << 30}) {
    GptqCase c{.group_index = std::vector<int32_t>(48)};
    c.group_index[47] = bad;
    FolderWriter writer;
    add_gptq(writer, c);
    EXPECT_THAT(complaint(writer.open(), gptq_config(c)),
                HasSubstr("model.safetensors, tensor 'm.up_proj.g_idx': input 47 is in group " +
                          std::to_string(bad) + ", there are 3"));
  }
}

TEST(Gptq, ShapesMustAgree) {
  const auto refused = [](GptqCase c, const QuantConfig& config) {
    FolderWriter writer;
    add_gptq(writer, c);
    return complaint(writer.open(), config);
  };
  const GptqCase good;
  QuantConfig config = gptq_config(good);
  EXPECT_EQ(refused(good, config), "");
  config.group_size = 32;
  EXPECT_THAT(refused(good, config), HasSubstr("has 48 inputs, which are no whole number of groups "
                                               "of 32"));
  config.group_size = 24;
  EXPECT_THAT(refused(good, config),
              HasSubstr("tensor 'm.up_proj.qzeros': has shape [3, 2], the codes ask for [2, 2]"));
  GptqCase short_index = good;
  short_index.group_index.assign(47, 0);
  EXPECT_THAT(refused(short_index, gptq_config(good)),
              HasSubstr("tensor 'm.up_proj.g_idx': has shape [47], the codes ask for [48]"));
  FolderWriter odd;
  odd.add(name(".qweight"), "I32", {6, 12}, std::vector<int32_t>(72));
  EXPECT_THAT(complaint(odd.open(), gptq_config(good)),
              HasSubstr("has 12 outputs, whose zero points fill no whole number of words of 8"));
}

TEST(Gptq, ScalesMustBeNumbers) {
  const Grouped m;
  FolderWriter writer;
  writer.add(name(".qweight"), "I32", {6, 16}, gptq_codes(m));
  writer.add(name(".qzeros"), "I32", {3, 2}, gptq_zeros(m, 1));
  auto scales = half_scales(m);
  scales[5] = 0x7e00;
  writer.add(name(".scales"), "F16", {3, 16}, scales);
  EXPECT_THAT(complaint(writer.open(), gptq_config({})),
              HasSubstr("tensor 'm.up_proj.scales': scale 5 is not a finite number"));
}

// Nibble j of a word belongs to output order[j] of its eight.
std::vector<uint32_t> awq_words(size_t rows, size_t outputs,
                                const std::function<uint32_t(size_t, size_t)>& code) {
  constexpr size_t kOrder[] = {0, 2, 4, 6, 1, 3, 5, 7};
  std::vector<uint32_t> words;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t first = 0; first < outputs; first += 8) {
      uint32_t word = 0;
      for (uint32_t j = 0; j < 8; ++j) word |= code(row, first + kOrder[j]) << (4 * j);
      words.push_back(word);
    }
  }
  return words;
}

constexpr QuantConfig kAwq = {.method = Method::awq, .bits = 4, .group_size = 16};

void add_awq(FolderWriter& writer, const Grouped& m) {
  writer.add(name(".qweight"), "I32", {m.inputs, m.outputs / 8},
             awq_words(m.inputs, m.outputs, [&](size_t i, size_t o) { return m.code(i, o); }));
  writer.add(
      name(".qzeros"), "I32", {m.num_groups(), m.outputs / 8},
      awq_words(m.num_groups(), m.outputs, [&](size_t g, size_t o) { return m.zero(g, o); }));
  writer.add(name(".scales"), "F16", {m.num_groups(), m.outputs}, half_scales(m));
}

TEST(Awq, UnpacksItsOrderOfColumns) {
  const Grouped m;
  FolderWriter writer;
  add_awq(writer, m);
  const Folder folder = writer.open();
  for (const size_t step : {1, 3, 16}) {
    const auto values = decoded(folder, kAwq, step);
    for (size_t o = 0; o < m.outputs; ++o) {
      for (size_t i = 0; i < m.inputs; ++i) {
        ASSERT_EQ(values[o * m.inputs + i], m.weight(o, i, i / m.group)) << o << " " << i;
      }
    }
  }
}

TEST(Awq, ShapesMustAgree) {
  FolderWriter writer;
  add_awq(writer, {});
  const Folder folder = writer.open();
  QuantConfig config = kAwq;
  config.group_size = 24;
  EXPECT_THAT(complaint(folder, config),
              HasSubstr("tensor 'm.up_proj.qzeros': has shape [3, 2], the codes ask for [2, 2]"));
  config.group_size = 32;
  EXPECT_THAT(complaint(folder, config), HasSubstr("no whole number of groups of 32"));
}

TEST(Awq, CodesMustBeWords) {
  FolderWriter writer;
  writer.add(name(".qweight"), "I64", {1, 1}, std::vector<int64_t>{0});
  EXPECT_THAT(complaint(writer.open(), kAwq), HasSubstr("has type I64, not I32"));
}

// --------------------------------------------------------------------- which layout

TEST(Layouts, PlainNumbersAreNoCodes) {
  FolderWriter writer;
  writer.add(name(".weight"), "BF16", {1, 2}, std::vector<uint16_t>(2));
  const Folder folder = writer.open();
  for (const Method method : {Method::none, Method::fp8, Method::gptq, Method::awq}) {
    EXPECT_EQ(complaint(folder, {.method = method}), "there is none");
  }
}

// ---------------------------------------------------------------- quantization_config

std::string config_complaint(const std::string& text, QuantConfig* config = nullptr) {
  const auto value = json::parse(text, "config.json");
  EXPECT_TRUE(value.has_value());
  const auto fields = json::Fields::of(*value, "config.json");
  const auto read = read_quant_config(*fields);
  if (!read) return to_string(read.error());
  if (config != nullptr) *config = *read;
  return "";
}

TEST(QuantConfigs, AreRead) {
  QuantConfig config;
  EXPECT_EQ(config_complaint("{}", &config), "");
  EXPECT_EQ(config.method, Method::none);
  EXPECT_EQ(config_complaint(R"({"quantization_config":{"quant_method":"fp8",
                               "weight_block_size":[64,32]}})",
                             &config),
            "");
  EXPECT_EQ(config.method, Method::fp8);
  EXPECT_EQ(config.block_outputs, 64U);
  EXPECT_EQ(config.block_inputs, 32U);
  EXPECT_EQ(config_complaint(R"({"quantization_config":{"quant_method":"gptq","bits":8,
                               "group_size":-1,"checkpoint_format":"gptq_v2"}})",
                             &config),
            "");
  EXPECT_EQ(config.bits, 8U);
  EXPECT_EQ(config.group_size, 0U);
  EXPECT_FALSE(config.zeros_less_one);
  EXPECT_EQ(config_complaint(R"({"quantization_config":{"quant_method":"awq","bits":4,
                               "group_size":64,"version":"gemm"}})",
                             &config),
            "");
  EXPECT_EQ(config.group_size, 64U);
}

TEST(QuantConfigs, ThatCannotBeAreNamed) {
  const auto refused = [](const std::string& inner) {
    return config_complaint(R"({"quantization_config":{)" + inner + "}}");
  };
  EXPECT_EQ(refused(R"("quant_method":"hqq")"),
            "cannot load model: config.json, field 'quantization_config.quant_method': is 'hqq', "
            "only fp8, gptq, awq and compressed-tensors are read\n"
            "  fetch or make a model in another form");
  EXPECT_THAT(refused(R"("quant_method":3)"), HasSubstr("quant_method': is a number, not a text"));
  EXPECT_THAT(refused(R"("quant_method":"gptq","bits":3)"), HasSubstr("is 3, only 4 and 8"));
  EXPECT_THAT(refused(R"("quant_method":"gptq")"), HasSubstr("bits': is missing"));
  EXPECT_THAT(refused(R"("quant_method":"gptq","bits":4,"group_size":0)"), HasSubstr("is 0"));
  EXPECT_THAT(refused(R"("quant_method":"gptq","bits":4,"group_size":-2)"),
              HasSubstr("not a whole number from 0 on"));
  EXPECT_THAT(refused(R"("quant_method":"gptq","bits":4,"checkpoint_format":"marlin")"),
              HasSubstr("is 'marlin'"));
  EXPECT_THAT(refused(R"("quant_method":"awq","version":"gemv")"), HasSubstr("is 'gemv'"));
  EXPECT_THAT(refused(R"("quant_method":"fp8","weight_block_size":[128])"),
              HasSubstr("is not two numbers above 0"));
  EXPECT_THAT(refused(R"("quant_method":"fp8","weight_block_size":[0,128])"),
              HasSubstr("is not two numbers above 0"));
  EXPECT_THAT(refused(R"("quant_method":"compressed-tensors","format":"pack-quantized")"),
              HasSubstr("only float-quantized"));
}

}  // namespace
}  // namespace evener::safetensors
