// Goal: the written file holds what the encoders make of the input's rows, whatever the number of
// threads, all the rest unchanged; and what cannot be written is refused before it costs anything.
#include "quantise/quantise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "gguf/header.h"
#include "gguf/writer.h"
#include "quant/format.h"

namespace evener::quantise {
namespace {

using testing::HasSubstr;

std::filesystem::path fixture(const char* name) {
  return std::filesystem::path(EVENER_TEST_DATA) / "models" / name;
}

std::unique_ptr<ThreadPool> pool_of(size_t num_threads) {
  const std::vector<int> cpus(num_threads, 0);
  return *ThreadPool::create(cpus);
}

std::vector<float> normal_weights(size_t count) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 0.1f);
  std::vector<float> weights(count);
  for (float& weight : weights) weight = normal(random);
  return weights;
}

// Two experts' matrices of 3 rows and 256 inputs, a norm, and some metadata.
struct SmallModel {
  std::vector<float> weights = normal_weights(2 * 3 * 256);
  std::vector<float> norm = normal_weights(256);

  void write(const std::filesystem::path& path) const {
    gguf::Header header;
    header.set("general.architecture", "qwen3moe");
    header.set("qwen3moe.block_count", uint32_t{8});
    header.set("qwen3moe.expert_count", uint32_t{2});
    header.set("general.file_type", uint32_t{0});
    header.set("split.count", uint16_t{0});
    header.set("general.name", "small");
    const std::vector<uint64_t> matrix = {256, 3, 2};
    const std::vector<uint64_t> vector = {256};
    header.add_tensor("blk.4.ffn_up_exps.weight", DType::F32, matrix);
    header.add_tensor("output_norm.weight", DType::F32, vector);
    auto writer = gguf::Writer::create(path, header);
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(writer->write(std::as_bytes(std::span(weights))).has_value());
    ASSERT_TRUE(writer->write(std::as_bytes(std::span(norm))).has_value());
    ASSERT_TRUE(writer->finish().has_value());
  }
};

class Quantise : public testing::Test {
 protected:
  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  Status quantise(const gguf::File& input, const char* recipe, const char* output,
                  const Importance* importance = nullptr, size_t num_threads = 2,
                  const Progress& progress = {}) const {
    ASSIGN_OR_RETURN(const Plan plan, make_plan(input, *find_recipe(recipe), importance));
    return write(plan, path(output), *pool_of(num_threads), progress);
  }

  gguf::File small_model(const SmallModel& model = {}) const {
    model.write(path("in.gguf"));
    return *gguf::File::open(path("in.gguf"));
  }

 private:
  TemporaryFolder folder_;
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Quantise, WritesWhatTheEncoderMakesOfTheRowsAndKeepsTheRest) {
  const SmallModel model;
  const gguf::File input = small_model(model);
  const Status done = quantise(input, "Q4_K_M", "out.gguf");
  ASSERT_TRUE(done.has_value()) << to_string(done.error());

  const auto output = gguf::File::open(path("out.gguf"));
  ASSERT_TRUE(output.has_value()) << to_string(output.error());
  EXPECT_EQ(output->get_uint("general.file_type").value(), 15u);
  EXPECT_EQ(output->get_uint("general.quantization_version").value(), 2u);
  EXPECT_EQ(output->get_string("general.name").value(), "small");
  EXPECT_FALSE(output->has("split.count"));
  EXPECT_FALSE(output->has("quantize.imatrix.file"));

  const gguf::Tensor& matrix = **output->get_tensor("blk.4.ffn_up_exps.weight");
  EXPECT_EQ(matrix.dtype, DType::Q4_K);
  std::vector<std::byte> expected(matrix.bytes.size());
  quant::find_format(DType::Q4_K)->encode(model.weights, {}, expected);
  EXPECT_TRUE(std::ranges::equal(matrix.bytes, expected));
  const gguf::Tensor& norm = **output->get_tensor("output_norm.weight");
  EXPECT_EQ(norm.dtype, DType::F32);
  EXPECT_TRUE(std::ranges::equal(norm.bytes, std::as_bytes(std::span(model.norm))));
}

TEST_F(Quantise, GivesTheSameBytesOnAnyNumberOfThreads) {
  const auto input = gguf::File::open(fixture("qwen35moe.gguf"));
  ASSERT_TRUE(input.has_value());
  for (const Recipe& recipe : recipes()) {
    const std::string name(recipe.name);
    ASSERT_TRUE(quantise(*input, name.c_str(), "one.gguf", nullptr, 1).has_value());
    ASSERT_TRUE(quantise(*input, name.c_str(), "three.gguf", nullptr, 3).has_value());
    EXPECT_EQ(bytes_of(path("one.gguf")), bytes_of(path("three.gguf"))) << name;
  }
}

TEST_F(Quantise, SizesOfThePlanAreTheFiles) {
  const auto input = gguf::File::open(fixture("qwen3.gguf"));
  ASSERT_TRUE(input.has_value());
  for (const Recipe& recipe : recipes()) {
    const auto plan = make_plan(*input, recipe, nullptr);
    ASSERT_TRUE(plan.has_value());
    ASSERT_TRUE(write(*plan, path("out.gguf"), *pool_of(2), {}).has_value());
    const auto output = gguf::File::open(path("out.gguf"));
    uint64_t bytes = 0;
    for (const gguf::Tensor& tensor : output->tensors()) bytes += tensor.bytes.size();
    EXPECT_EQ(plan->output_bytes(), bytes) << recipe.name;
    EXPECT_FALSE(std::ranges::all_of(plan->tensors, &TensorPlan::is_copy)) << recipe.name;
  }
}

// An importance file for the small model's matrix: values of two experts.
Result<Importance> importance_of(const std::vector<float>& values,
                                 const char* tensor = "blk.4.ffn_up_exps.weight") {
  std::vector<std::byte> bytes;
  const auto put = [&](const void* data, size_t size) {
    const auto* const begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  const std::string_view name = tensor;
  const int32_t head[] = {1, int32_t(name.size())};
  const int32_t counts[] = {1, int32_t(values.size())};
  put(head, sizeof head);
  put(name.data(), name.size());
  put(counts, sizeof counts);
  put(values.data(), values.size() * sizeof(float));
  return Importance::parse(bytes, "folder/im.dat");
}

TEST_F(Quantise, GivesEachExpertItsOwnImportance) {
  const SmallModel model;
  const gguf::File input = small_model(model);
  std::vector<float> values(512, 1);
  for (size_t i = 0; i < 256; ++i) values[i] = i % 2 == 0 ? 100.0f : 0.01f;
  const auto importance = importance_of(values);
  ASSERT_TRUE(importance.has_value());
  ASSERT_TRUE(quantise(input, "IQ4_XS", "out.gguf", &*importance).has_value());

  const auto output = gguf::File::open(path("out.gguf"));
  const gguf::Tensor& matrix = **output->get_tensor("blk.4.ffn_up_exps.weight");
  ASSERT_EQ(matrix.dtype, DType::IQ4_XS);
  const size_t row_bytes = matrix.bytes.size() / 6;
  for (size_t row = 0; row < 6; ++row) {
    std::vector<std::byte> expected(row_bytes);
    quant::find_format(DType::IQ4_XS)
        ->encode(std::span(model.weights).subspan(row * 256, 256),
                 std::span(values).subspan(row / 3 * 256, 256), expected);
    EXPECT_TRUE(std::ranges::equal(matrix.bytes.subspan(row * row_bytes, row_bytes), expected));
  }
  EXPECT_EQ(output->get_string("quantize.imatrix.file").value(), "im.dat");
  EXPECT_EQ(output->get_uint("quantize.imatrix.entries_count").value(), 1u);
}

TEST_F(Quantise, RefusesTheImportanceOfAnotherModel) {
  const gguf::File input = small_model();
  const auto short_one = importance_of(std::vector<float>(256, 1));
  const auto wrong_shape = make_plan(input, *find_recipe("Q4_0"), &*short_one);
  ASSERT_FALSE(wrong_shape.has_value());
  EXPECT_THAT(to_string(wrong_shape.error()), HasSubstr("blk.4.ffn_up_exps.weight"));
  const auto foreign = importance_of(std::vector<float>(512, 1), "blk.9.attn_q.weight");
  const auto unknown = make_plan(input, *find_recipe("Q4_0"), &*foreign);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(to_string(unknown.error()), HasSubstr("knows none of the tensors"));
}

TEST_F(Quantise, RefusesWeightsThatAreNoNumbersAndLeavesNothing) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    SmallModel model;
    model.weights[4 * 256 + 17] = bad;
    const gguf::File input = small_model(model);
    const Status done = quantise(input, "Q4_K_M", "out.gguf");
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::corrupt);
    EXPECT_THAT(done.error().where, HasSubstr("blk.4.ffn_up_exps.weight"));
    EXPECT_THAT(done.error().why, HasSubstr("row 4"));
    EXPECT_FALSE(std::filesystem::exists(path("out.gguf")));
  }
}

TEST_F(Quantise, RefusesWeightsThatHalvesCannotHold) {
  SmallModel model;
  model.weights[0] = 70000;
  const gguf::File input = small_model(model);
  const Status half = quantise(input, "F16", "out.gguf");
  ASSERT_FALSE(half.has_value());
  EXPECT_THAT(half.error().remedy, HasSubstr("BF16"));
  EXPECT_TRUE(quantise(input, "BF16", "out.gguf").has_value());
}

TEST_F(Quantise, AnInterruptedOneLeavesTheOlderFile) {
  const gguf::File input = small_model();
  std::ofstream(path("out.gguf")) << "older";
  const Status done =
      quantise(input, "Q8_0", "out.gguf", nullptr, 1, [](uint64_t, uint64_t) { return false; });
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, Code::cancelled);
  EXPECT_EQ(bytes_of(path("out.gguf")), "older");
}

TEST_F(Quantise, TellsHowFarItIs) {
  const gguf::File input = small_model();
  std::vector<uint64_t> seen;
  ASSERT_TRUE(quantise(input, "Q8_0", "out.gguf", nullptr, 1, [&](uint64_t done, uint64_t total) {
                EXPECT_EQ(total, 7u * 256);
                seen.push_back(done);
                return true;
              }).has_value());
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), 7u * 256);
}

// The nearest that a recipe of `bits` comes: nothing is lost or mixed up on the way.
TEST_F(Quantise, KeepsEveryWeightOfARealShapeClose) {
  const auto input = gguf::File::open(fixture("qwen35.gguf"));
  ASSERT_TRUE(input.has_value());
  ASSERT_TRUE(quantise(*input, "Q8_0", "out.gguf").has_value());
  const auto output = gguf::File::open(path("out.gguf"));
  ASSERT_EQ(output->tensors().size(), input->tensors().size());
  for (const gguf::Tensor& was : input->tensors()) {
    const gguf::Tensor& is = **output->get_tensor(was.name);
    ASSERT_EQ(is.shape, was.shape);
    std::vector<float> before(was.num_elements());
    std::vector<float> after(was.num_elements());
    quant::find_format(was.dtype)->decode(was.bytes, before.data());
    quant::find_format(is.dtype)->decode(is.bytes, after.data());
    double error = 0;
    double square = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      error += std::pow(double(before[i]) - double(after[i]), 2);
      square += std::pow(double(before[i]), 2);
    }
    EXPECT_LE(error, 1e-4 * square) << was.name;
  }
}

}  // namespace
}  // namespace evener::quantise
