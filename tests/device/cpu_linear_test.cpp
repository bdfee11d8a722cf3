// Goal: linear maps have the same bits for every instruction set that runs here and any number of
// threads, and weights are packed for all formats. What they compute: device_linear_test.cpp.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/linear.h"
#include "device/cpu/packed_weight.h"
#include "device/rig.h"
#include "device/stored_weight.h"
#include "quant/format.h"

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

  std::vector<float> operator()(const std::vector<float>& x) {
    const size_t rows = x.size() / weight_->inputs();
    std::vector<float> y(rows * weight_->outputs());
    const HostLinearPart part{.weight = weight_.get(),
                              .bias = nullptr,
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

class CpuLinear : public testing::TestWithParam<Case> {
 protected:
  const LinearKernels& kernels() const { return *GetParam().kernels; }
  DType dtype() const { return GetParam().dtype; }
  size_t block() const { return info(dtype()).block_size; }

  Random random_{20261129};
};

TEST_P(CpuLinear, TwoThreadsGiveTheBitsOfOne) {
  const Stored weight = random_weight(random_, dtype(), 77, block() == 1 ? 70 : 2 * block());
  Multiplier one(kernels(), 1, weight);
  Multiplier two(kernels(), 2, weight);
  for (const size_t rows : {1u, 30u}) {
    const std::vector<float> x = floats(random_matrix(random_, rows, weight.inputs));
    expect_equal_bits(one(x), two(x), std::to_string(rows) + " rows");
  }
}

TEST_P(CpuLinear, GivesTheBitsOfTheFirstInstructionSet) {
  const Stored weight = random_weight(random_, dtype(), 33, block() == 1 ? 300 : 3 * block());
  const std::vector<float> x = floats(random_matrix(random_, 11, weight.inputs));
  expect_equal_bits(Multiplier(kernels(), 1, weight)(x),
                    Multiplier(*all_kernels().front(), 1, weight)(x), "kernels");
}

INSTANTIATE_TEST_SUITE_P(Formats, CpuLinear, testing::ValuesIn(all_cases()), case_name);

// Loading asks only whether a type can be decoded before it takes memory.
TEST(PackWeight, KnowsEveryTypeThatCanBeDecoded) {
  for (const LinearKernels* const kernels : all_kernels()) {
    for (const quant::Format* const format : quant::formats()) {
      EXPECT_NE(find_kernels(*kernels, format->dtype), nullptr) << info(format->dtype).name;
    }
    EXPECT_EQ(types_of(*kernels).size(), quant::formats().size());
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
