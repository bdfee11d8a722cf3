// Goal: linear maps of every weight format, on every instruction set that runs here, give what the
// judge gives, and a row's bits depend on that row alone.
// Method: random blocks (every code legal, sane scales) and random shapes; seeds are in the
// messages.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/linear.h"
#include "device/cpu/packed_weight.h"
#include "device/rig.h"
#include "quant/format.h"
#include "reference/linear.h"
#include "tensor/float16.h"

namespace evener::device::cpu {

namespace {

using reference::Matrix;
using Random = std::mt19937;

std::vector<const LinearKernels*> all_kernels() {
  std::vector<const LinearKernels*> kernels;
  if (const auto* emulated = emulated_kernels().linear) kernels.push_back(emulated);
  for (const Isa isa : available_isas()) kernels.push_back(&linear_kernels(isa));
  return kernels;
}

std::unique_ptr<ThreadPool> make_pool(size_t num_threads) {
  const std::vector<int> cpus(num_threads, sched_getcpu());
  return std::move(ThreadPool::create(cpus)).value();
}

// Places of f16 values in a block, which random bits would make huge or NaN.
std::vector<size_t> half_places(DType dtype) {
  switch (dtype) {
    case DType::Q4_1:
    case DType::Q5_1:
    case DType::Q4_K:
    case DType::Q5_K:
      return {0, 2};
    case DType::Q2_K:
      return {80, 82};
    case DType::Q3_K:
      return {108};
    case DType::Q6_K:
      return {208};
    case DType::TQ1_0:
      return {52};
    case DType::TQ2_0:
      return {64};
    case DType::MXFP4:
    case DType::NVFP4:
    case DType::IQ1_M:
      return {};
    default:
      return {0};
  }
}

void put_half(std::byte* at, uint16_t half) { std::memcpy(at, &half, sizeof half); }

uint16_t random_half(Random& random, DType dtype) {
  const float value = std::normal_distribution<float>(0, 0.05f)(random);
  return dtype == DType::BF16 ? uint16_t(std::bit_cast<uint32_t>(value) >> 16) : f32_to_f16(value);
}

// The half of an IQ1_M block, four bits of which are the upper ones of each of its last four words.
void put_scattered_half(std::byte* block, uint16_t half) {
  for (size_t i = 0; i < 4; ++i) {
    std::byte& upper = block[49 + 2 * i];
    upper = (upper & std::byte(15)) | std::byte((half >> (4 * i) & 15) << 4);
  }
}

// A matrix in the file's layout.
struct Stored {
  DType dtype;
  size_t outputs;
  size_t inputs;
  std::vector<std::byte> bytes;

  Stored(DType type, size_t num_outputs, size_t num_inputs)
      : dtype(type),
        outputs(num_outputs),
        inputs(num_inputs),
        bytes(outputs * inputs / info(type).block_size * info(type).block_bytes) {}

  WeightSource source() const {
    return {.name = "w", .dtype = dtype, .outputs = outputs, .inputs = inputs, .bytes = bytes};
  }
  reference::StoredWeight judged() const { return {dtype, outputs, inputs, bytes}; }

  void fill(std::byte byte) { std::ranges::fill(bytes, byte); }
  void set_scales(Random& random) {
    for (size_t block = 0; block < bytes.size(); block += info(dtype).block_bytes) {
      for (const size_t place : half_places(dtype)) {
        put_half(&bytes[block + place], random_half(random, dtype));
      }
      if (dtype == DType::MXFP4) bytes[block] = std::byte(112 + random() % 16);
      if (dtype == DType::IQ1_M) put_scattered_half(&bytes[block], random_half(random, dtype));
    }
  }
};

Stored random_weight(Random& random, DType dtype, size_t outputs, size_t inputs) {
  Stored weight(dtype, outputs, inputs);
  if (dtype == DType::F32) {
    std::normal_distribution<float> normal(0, 0.05f);
    for (size_t i = 0; i < weight.bytes.size(); i += 4) {
      const float value = normal(random);
      std::memcpy(&weight.bytes[i], &value, 4);
    }
    return weight;
  }
  for (std::byte& byte : weight.bytes) byte = std::byte(random() & 255);
  weight.set_scales(random);
  return weight;
}

std::vector<float> floats(const Matrix& matrix) {
  return {matrix.values.begin(), matrix.values.end()};
}

// Packs a weight and multiplies with it.
class Multiplier {
 public:
  Multiplier(const LinearKernels& kernels, size_t num_threads, const Stored& weight)
      : kernels_(kernels), pool_(make_pool(num_threads)) {
    weight_ = std::move(pack_weight(weight.source(), WeightUse::linear, *pool_, kernels)).value();
  }

  std::vector<float> operator()(const std::vector<float>& x, const float* bias = nullptr) {
    const size_t rows = x.size() / weight_->inputs();
    std::vector<float> y(rows * weight_->outputs());
    const HostLinearPart part{.weight = weight_.get(),
                              .bias = bias,
                              .y = {y.data(), rows, weight_->outputs(), weight_->outputs()}};
    linear(*pool_, kernels_, scratch_, {x.data(), rows, weight_->inputs(), weight_->inputs()},
           {&part, 1});
    return y;
  }

 private:
  const LinearKernels& kernels_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Weight> weight_;
  LinearScratch scratch_;
};

struct Case {
  const LinearKernels* kernels;
  DType dtype;
};

std::vector<DType> types_of(const LinearKernels& kernels) {
  std::vector<DType> types;
  for (const FormatTable* const table : kernels.tables) {
    for (size_t i = 0; i < table->num_formats; ++i) {
      types.push_back(DType(table->formats[i].dtype));
    }
  }
  return types;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const LinearKernels* const kernels : all_kernels()) {
    for (const DType dtype : types_of(*kernels)) cases.push_back({kernels, dtype});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& instance) {
  std::string name = std::string(instance.param.kernels->isa) + "_" +
                     std::string(evener::info(instance.param.dtype).name);
  std::ranges::replace_if(name, [](char c) { return c == ',' || c == ' '; }, '_');
  return name;
}

class Linear : public testing::TestWithParam<Case> {
 protected:
  const LinearKernels& kernels() const { return *GetParam().kernels; }
  DType dtype() const { return GetParam().dtype; }
  size_t block() const { return info(dtype()).block_size; }
  size_t draw(size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random_);
  }
  // Any number for float types, whole blocks for others.
  size_t draw_inputs() {
    return block() == 1 ? draw(1, 600) : block() * draw(1, 1024 / block() + 2);
  }

  void expect_judged(const Stored& weight, const Matrix& x, const std::string& what) {
    const auto wanted = reference::linear(weight.judged(), x);
    const std::vector<float> got = Multiplier(kernels(), 1, weight)(floats(x));
    for (size_t i = 0; i < got.size(); ++i) {
      const double tolerance = 1e-5 * wanted.magnitude.values[i] + 1e-30;
      ASSERT_NEAR(double(got[i]), wanted.y.values[i], tolerance)
          << what << ", row " << i / weight.outputs << ", output " << i % weight.outputs;
    }
  }

  Random random_{20261129};
};

TEST_P(Linear, AgreesWithTheJudgeOnRandomShapes) {
  for (int i = 0; i < 6; ++i) {
    const size_t rows = i % 2 == 0 ? draw(1, 8) : draw(9, 70);
    const Stored weight = random_weight(random_, dtype(), draw(1, 40), draw_inputs());
    const Matrix x = random_matrix(random_, rows, weight.inputs);
    expect_judged(weight, x, "shape " + std::to_string(i));
  }
}

TEST_P(Linear, ExtremeCodesAndActivationsDoNotSaturate) {
  for (const int byte : {0x00, 0x7f, 0x80, 0x88, 0xff}) {
    Stored weight(dtype(), 9, block() == 1 ? 64 : 2 * block());
    weight.fill(std::byte(byte));
    weight.set_scales(random_);
    if (dtype() == DType::F32) weight.fill(std::byte(0x3f));
    Matrix x(10, weight.inputs);
    for (size_t i = 0; i < x.values.size(); ++i) {
      const double sign = (i * i / 3) % 2 == 0 ? 1 : -1;
      x.values[i] = i / weight.inputs % 3 == 0   ? -127
                    : i / weight.inputs % 3 == 1 ? 127
                                                 : 127 * sign;
    }
    expect_judged(weight, x, "byte " + std::to_string(byte));
  }
}

TEST_P(Linear, ARowHasTheSameBitsWhateverTheRowsBesideIt) {
  const Stored weight = random_weight(random_, dtype(), 21, block() == 1 ? 300 : 5 * block());
  Multiplier multiply(kernels(), 1, weight);
  const std::vector<float> x = floats(random_matrix(random_, 150, weight.inputs));
  const std::vector<float> all = multiply(x);
  for (const size_t rows : {1u, 2u, 3u, 4u, 5u, 8u, 9u, 31u, 128u, 129u}) {
    const size_t first = rows % 7;
    const auto* const from = x.data() + first * weight.inputs;
    const std::vector<float> some = multiply({from, from + rows * weight.inputs});
    expect_equal_bits(some, std::span(all).subspan(first * weight.outputs, some.size()),
                      std::to_string(rows) + " rows");
  }
}

TEST_P(Linear, TwoThreadsGiveTheBitsOfOne) {
  const Stored weight = random_weight(random_, dtype(), 77, block() == 1 ? 70 : 2 * block());
  Multiplier one(kernels(), 1, weight);
  Multiplier two(kernels(), 2, weight);
  for (const size_t rows : {1u, 30u}) {
    const std::vector<float> x = floats(random_matrix(random_, rows, weight.inputs));
    expect_equal_bits(one(x), two(x), std::to_string(rows) + " rows");
  }
}

TEST_P(Linear, GivesTheBitsOfTheFirstInstructionSet) {
  const Stored weight = random_weight(random_, dtype(), 33, block() == 1 ? 300 : 3 * block());
  const std::vector<float> x = floats(random_matrix(random_, 11, weight.inputs));
  expect_equal_bits(Multiplier(kernels(), 1, weight)(x),
                    Multiplier(*all_kernels().front(), 1, weight)(x), "kernels");
}

TEST_P(Linear, ScalesAndActivationsThatAreNotNumbersCrashNothing) {
  Stored weight = random_weight(random_, dtype(), 5, 256);
  for (size_t at = 0; at + 1 < weight.bytes.size(); at += info(dtype()).block_bytes) {
    for (const size_t place : half_places(dtype())) put_half(&weight.bytes[at + place], 0x7e00);
  }
  Matrix x = random_matrix(random_, 12, 256);
  x.values[3] = std::numeric_limits<double>::infinity();
  x.values[256] = std::numeric_limits<double>::quiet_NaN();
  x.values[512] = 3e38;
  x.values[768] = 1e-44;
  EXPECT_EQ(Multiplier(kernels(), 1, weight)(floats(x)).size(), 60u);
}

TEST_P(Linear, ZeroActivationsGiveTheBias) {
  const Stored weight = random_weight(random_, dtype(), 19, 256);
  const std::vector<float> bias = floats(random_matrix(random_, 1, 19));
  for (const size_t rows : {1u, 12u}) {
    const std::vector<float> y =
        Multiplier(kernels(), 1, weight)(std::vector<float>(rows * 256), bias.data());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], bias[i % 19]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Linear, testing::ValuesIn(all_cases()), case_name);

class LinearParts : public testing::TestWithParam<const LinearKernels*> {};

// Method: y lies in a wider matrix, whose other columns must stay as they are.
TEST_P(LinearParts, OfDifferentTypesTogetherGiveWhatEachGivesAlone) {
  Random random(5);
  const auto pool = make_pool(2);
  const DType types[] = {DType::Q4_K, DType::Q8_0, DType::F16, DType::Q6_K};
  const size_t outputs[] = {24, 1, 17, 40};
  constexpr size_t kStride = 50;
  for (const size_t rows : {1u, 6u, 140u}) {
    const std::vector<float> x = floats(random_matrix(random, rows, 512));
    std::vector<std::unique_ptr<Weight>> weights;
    std::vector<std::vector<float>> alone;
    std::vector<std::vector<float>> together;
    std::vector<HostLinearPart> parts;
    for (size_t i = 0; i < 4; ++i) {
      const Stored stored = random_weight(random, types[i], outputs[i], 512);
      alone.push_back(Multiplier(*GetParam(), 1, stored)(x));
      weights.push_back(
          std::move(pack_weight(stored.source(), WeightUse::linear, *pool, *GetParam())).value());
      together.emplace_back(rows * kStride, 7.0f);
    }
    for (size_t i = 0; i < 4; ++i) {
      parts.push_back({weights[i].get(), nullptr, {together[i].data(), rows, outputs[i], kStride}});
    }
    LinearScratch scratch;
    linear(*pool, *GetParam(), scratch, {x.data(), rows, 512, 512}, parts);
    for (size_t i = 0; i < 4; ++i) {
      for (size_t r = 0; r < rows; ++r) {
        const auto row = std::span(together[i]).subspan(r * kStride, kStride);
        expect_equal_bits(row.first(outputs[i]),
                          std::span(alone[i]).subspan(r * outputs[i], outputs[i]),
                          "part " + std::to_string(i));
        for (const float untouched : row.subspan(outputs[i])) ASSERT_EQ(untouched, 7.0f);
      }
    }
  }
}

TEST_P(LinearParts, NoRowsAreNoWork) {
  Random random(6);
  const Stored weight = random_weight(random, DType::Q8_0, 3, 32);
  EXPECT_TRUE(Multiplier(*GetParam(), 1, weight)({}).empty());
}

INSTANTIATE_TEST_SUITE_P(Kernels, LinearParts, testing::ValuesIn(all_kernels()),
                         [](const auto& instance) {
                           std::string name = instance.param->isa;
                           std::ranges::replace_if(
                               name, [](char c) { return c == ',' || c == ' '; }, '_');
                           return name;
                         });

// Loading asks only whether a type can be decoded before it takes memory.
TEST(PackWeight, KnowsEveryTypeThatCanBeDecoded) {
  for (const LinearKernels* const kernels : all_kernels()) {
    for (const quant::Format* const format : quant::formats()) {
      EXPECT_NE(find_kernels(*kernels, format->dtype), nullptr) << info(format->dtype).name;
    }
    EXPECT_EQ(types_of(*kernels).size(), quant::formats().size());
  }
}

// Method: one activation that is not 0, so that the result is one weight.
TEST(PackWeight, KeepsSubnormalAndLargestScalesOfFourBitFloats) {
  for (const LinearKernels* const kernels : all_kernels()) {
    for (const int exponent : {0, 1, 2, 3, 127, 250}) {
      Stored weight(DType::MXFP4, 1, 32);
      weight.fill(std::byte(0x22));  // 1 everywhere
      weight.bytes[0] = std::byte(exponent);
      const float scale = std::ldexp(1.0f, exponent - 127);
      std::vector<float> x(32);
      x[7] = exponent < 64 ? 0x1p10f : 1;  // keeps the result normal
      const std::vector<float> y = Multiplier(*kernels, 1, weight)(x);
      EXPECT_NEAR(y[0] / x[7] / scale, 1, 1e-3) << kernels->isa << ", exponent " << exponent;
    }
    for (const int bits : {0x00, 0x01, 0x07, 0x08, 0x7e, 0x7f, 0xff}) {
      Stored weight(DType::NVFP4, 1, 64);
      weight.fill(std::byte(0x22));
      for (size_t i = 0; i < 4; ++i) weight.bytes[i] = std::byte(bits);
      std::vector<float> decoded(64);
      quant::find_format(DType::NVFP4)->decode(weight.bytes, decoded.data());
      std::vector<float> x(64);
      x[40] = 127;  // its block's scale is 1
      EXPECT_EQ(Multiplier(*kernels, 1, weight)(x)[0], 127 * decoded[40]) << bits;
    }
  }
}

TEST(PackWeight, SaysWhichTypeItCannotUse) {
  const auto pool = make_pool(1);
  const std::vector<std::byte> bytes(4 * 32);
  const WeightSource source{
      .name = "blk.0.x", .dtype = DType::I32, .outputs = 1, .inputs = 32, .bytes = bytes};
  const auto weight = pack_weight(source, WeightUse::linear, *pool, *all_kernels().front());
  ASSERT_FALSE(weight.has_value());
  EXPECT_EQ(weight.error().code, Code::unsupported);
  EXPECT_EQ(weight.error().where, "tensor 'blk.0.x'");
  EXPECT_EQ(weight.error().why, "no kernel multiplies with type I32");
  EXPECT_FALSE(pack_weight(source, WeightUse::embedding, *pool, *all_kernels().front()));
}

TEST(PackWeight, ARowOfBrokenBlocksIsAnError) {
  const auto pool = make_pool(1);
  const WeightSource source{
      .name = "w", .dtype = DType::Q4_K, .outputs = 1, .inputs = 100, .bytes = {}};
  const auto weight = pack_weight(source, WeightUse::linear, *pool, *all_kernels().front());
  ASSERT_FALSE(weight.has_value());
  EXPECT_EQ(weight.error().why, "100 inputs are no whole number of blocks of 256");
}

TEST(PackedWeight, HoldsAboutTheBitsOfTheFile) {
  Random random(7);
  const auto pool = make_pool(1);
  for (const DType dtype : types_of(*all_kernels().front())) {
    const Stored stored = random_weight(random, dtype, 32, 1024);
    const auto weight =
        pack_weight(stored.source(), WeightUse::linear, *pool, *all_kernels().front());
    ASSERT_TRUE(weight.has_value());
    const size_t percent = dtype == DType::TQ1_0 ? 123 : 104;  // TQ1_0 is packed as TQ2_0
    EXPECT_LE((*weight)->size_bytes(), stored.bytes.size() * percent / 100);
    EXPECT_GE((*weight)->size_bytes(), stored.bytes.size());
  }
}

TEST(EmbeddingRows, AreTheDecodedRowsAskedFor) {
  Random random(8);
  const auto pool = make_pool(1);
  for (const quant::Format* const format : quant::formats()) {
    const Stored stored = random_weight(random, format->dtype, 9, 256);
    std::vector<float> decoded(9 * 256);
    format->decode(stored.bytes, decoded.data());
    const auto weight =
        pack_weight(stored.source(), WeightUse::embedding, *pool, *all_kernels().front());
    ASSERT_TRUE(weight.has_value());
    const int32_t ids[] = {8, 0, 3, 3};
    std::vector<float> y(4 * 256);
    embedding_rows(**weight, ids, {y.data(), 4, 256, 256});
    for (size_t i = 0; i < 4; ++i) {
      expect_equal_bits(std::span(y).subspan(i * 256, 256),
                        std::span(decoded).subspan(size_t(ids[i]) * 256, 256), "row");
    }
  }
}

TEST(ChooseIsa, RefusesWhatDoesNotExist) {
  const auto isa = choose_isa("mmx");
  ASSERT_FALSE(isa.has_value());
  EXPECT_EQ(isa.error().code, Code::invalid_argument);
  EXPECT_EQ(to_string(isa.error()),
            "cannot choose an instruction set: 'mmx': there are avx2 and avx512vnni\n"
            "  leave EVENER_ISA unset to use the best that this CPU has");
}

TEST(ChooseIsa, TakesTheBestThatIsThereOrTheOneAskedFor) {
  ASSERT_FALSE(available_isas().empty());
  for (const Isa isa : available_isas()) {
    EXPECT_EQ(choose_isa(isa_name(isa)).value(), isa);
  }
}

}  // namespace
}  // namespace evener::device::cpu
