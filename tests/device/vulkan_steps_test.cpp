// Goal: steps are recorded once and used again, wait where they must, and say it when a card fails.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "base/temporary_folder.h"
#include "device/stored_weight.h"
#include "device/tested_vulkan.h"
#include "device/vulkan/card_device.h"
#include "device/vulkan/hazards.h"
#include "device/vulkan/pipeline_file.h"
#include "device/vulkan/vulkan_device.h"

namespace evener::device::vulkan {
namespace {

using Spans = std::vector<Touched>;

TEST(Hazards, OnlyWhatMeetsAWriteWaits) {
  Hazards hazards;
  const auto needs = [&](const Spans& reads, const Spans& writes) {
    return hazards.needs_barrier(reads, writes);
  };
  EXPECT_FALSE(needs({{0, 10}}, {{10, 20}}));
  EXPECT_FALSE(needs({{0, 10}, {5, 8}}, {{20, 30}}));  // reads of the same, writes beside
  EXPECT_TRUE(needs({{19, 21}}, {{40, 50}}));          // reads what was written
  EXPECT_FALSE(needs({{20, 30}}, {{60, 70}}));         // it waited for that one too
  EXPECT_TRUE(needs({}, {{69, 70}}));                  // writes what was written
  EXPECT_FALSE(needs({{0, 5}}, {}));
  EXPECT_TRUE(needs({}, {{4, 5}}));  // writes what was read
  hazards.clear();
  EXPECT_FALSE(needs({{4, 5}}, {{0, 70}}));
}

TEST(Hazards, NothingIsNeverMet) {
  Hazards hazards;
  EXPECT_FALSE(hazards.needs_barrier({}, Spans{{0, 0}, {5, 5}}));
  EXPECT_FALSE(hazards.needs_barrier(Spans{{0, 0}}, Spans{{0, 100}}));
}

class VulkanSteps : public testing::Test {
 protected:
  void SetUp() override {
    if (tested_vulkan() == nullptr) GTEST_SKIP() << "needs Vulkan";
  }

  static std::unique_ptr<CardDevice> make(const VulkanOptions& options = {}) {
    auto made = create_card_device(options);
    EXPECT_TRUE(made.has_value()) << to_string(made.error());
    return std::move(made).value();
  }
};

// A decode step as models write it: rows brought along, one map, a result read back.
class SmallStep {
 public:
  explicit SmallStep(CardDevice& device)
      : device_(device),
        stored_(random_weight(random_, DType::Q8_0, 64, 64)),
        weight_(device.upload(stored_.source(), WeightUse::linear).value()),
        x_(device.allocate(4 * 64 * sizeof(float)).value()),
        y_(device.allocate(4 * 64 * sizeof(float)).value()) {}

  std::vector<float> run(size_t rows, float value) {
    const Tensor x{x_.get(), 0, rows, 64, 64};
    const Tensor y{y_.get(), 0, rows, 64, 64};
    device_.write(std::vector<float>(rows * 64, value), x);
    const LinearPart part{.weight = weight_.get(), .bias = {}, .y = y};
    device_.linear(x, {&part, 1});
    device_.silu_mul(y, x, y);
    std::vector<float> result(rows * 64);
    device_.read(y, result);
    return result;
  }

 private:
  CardDevice& device_;
  std::mt19937 random_{5};
  Stored stored_;
  std::unique_ptr<Weight> weight_;
  std::unique_ptr<Buffer> x_;
  std::unique_ptr<Buffer> y_;
};

TEST_F(VulkanSteps, OneLikeAnEarlierOneIsNotRecordedAgain) {
  const auto device = make();
  SmallStep step(*device);
  const std::vector<float> first = step.run(1, 1);
  (void)step.run(1, 1);
  const size_t recorded = device->steps().num_recorded();
  const size_t steps = device->steps().num_steps();
  EXPECT_NE(step.run(1, 2), first);  // other values are the same step
  EXPECT_EQ(step.run(1, 1), first);
  EXPECT_EQ(device->steps().num_recorded(), recorded);
  EXPECT_EQ(device->steps().num_steps(), steps + 2);
  (void)step.run(3, 1);  // another shape is another step
  EXPECT_EQ(device->steps().num_recorded(), recorded + 1);
}

TEST_F(VulkanSteps, MoreShapesThanAreKeptStillGiveTheSame) {
  const auto device = make();
  SmallStep step(*device);
  const std::vector<float> first = step.run(2, 1);
  const auto buffer = device->allocate(1 << 20).value();
  for (size_t n = 1; n <= 2 * Recordings::kKeptMax; ++n) {
    std::vector<float> values(n * 16);
    std::iota(values.begin(), values.end(), 0.0f);
    const Tensor tensor{buffer.get(), 0, n, 16, 16};
    device->write(values, tensor);
    std::vector<float> got(values.size());
    device->read(tensor, got);
    ASSERT_EQ(got, values) << n;
  }
  EXPECT_EQ(step.run(2, 1), first);
}

// What was recorded with a buffer that is gone may name a new one by the old name.
TEST_F(VulkanSteps, MemoryThatComesAndGoesIsNotMixedUp) {
  const auto device = make();
  for (size_t round = 0; round < 4; ++round) {
    const auto buffer = device->allocate(size_t{40} << 20).value();  // a block of its own
    const Tensor tensor{buffer.get(), 0, 8, 16, 16};
    std::vector<float> got(8 * 16, 1);
    device->read(tensor, got);
    EXPECT_EQ(got, std::vector<float>(8 * 16)) << round;
    device->write(std::vector<float>(8 * 16, 3), tensor);
    device->read(tensor, got);
    EXPECT_EQ(got, std::vector<float>(8 * 16, 3)) << round;
  }
}

TEST_F(VulkanSteps, ACardThatDoesNotAnswerInTimeIsGivenUpAndSaysSo) {
  const auto made = create_card_device({.deadline = std::chrono::nanoseconds(1)});
  // Opening it waits for nothing, or this is where it fails.
  if (!made.has_value()) {
    EXPECT_EQ(made.error().code, Code::unavailable);
    return;
  }
  CardDevice& device = **made;
  auto buffer = device.allocate(size_t{64} << 20);
  ASSERT_TRUE(buffer.has_value());
  std::vector<float> values(1024, 7);
  for (int i = 0; i < 100 && device.status(); ++i) {
    device.read({buffer->get(), 0, 16, 64, 64}, values);
  }
  const Status status = device.status();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::unavailable);
  EXPECT_EQ(status.error().doing, "compute");
  EXPECT_EQ(status.error().why, "it has not answered for 1e-09 s");
  // From now on nothing happens, and nothing crashes.
  device.write(values, {buffer->get(), 0, 16, 64, 64});
  device.read({buffer->get(), 0, 16, 64, 64}, values);
  EXPECT_EQ(values, std::vector<float>(1024));
  EXPECT_FALSE(device.allocate(1024).has_value());
}

TEST_F(VulkanSteps, MoreMemoryThanThereIsIsAClearError) {
  const auto device = make();
  const auto buffer = device->allocate(size_t{1} << 50);
  ASSERT_FALSE(buffer.has_value());
  EXPECT_EQ(buffer.error().code, Code::out_of_memory);
  EXPECT_EQ(buffer.error().where, "vulkan:0, a buffer");
  EXPECT_TRUE(device->status().has_value());  // asking did no harm
  EXPECT_TRUE(device->allocate(1024).has_value());
}

TEST_F(VulkanSteps, APlanComputesNothingAndSaysWhatItWouldCost) {
  const auto device = make({.is_plan = true});
  SmallStep step(*device);
  device->steps().forget_costs();
  EXPECT_EQ(step.run(1, 1), std::vector<float>(64));
  const auto& entries = device->steps().costs().entries();
  ASSERT_TRUE(entries.contains("linear_vec/Q8_0"));
  const StepCosts::Entry& linear = entries.at("linear_vec/Q8_0");
  EXPECT_EQ(linear.calls, 1u);
  EXPECT_EQ(linear.operations, 2u * 64 * 64);
  EXPECT_GE(linear.bytes, 64u * 64 / 32 * 34);
  EXPECT_EQ(device->steps().num_steps(), 0u);
}

class PipelineFile : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "below" / "kernels"; }
  static std::vector<std::byte> bytes() { return {std::byte{1}, std::byte{2}, std::byte{3}}; }
  void change(size_t offset, char to) const {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(offset));
    file.put(to);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(PipelineFile, GivesBackWhatWasWritten) {
  EXPECT_FALSE(read_pipeline_file(path(), "card a").has_value());
  ASSERT_TRUE(write_pipeline_file(path(), "card a", bytes()).has_value());
  EXPECT_EQ(read_pipeline_file(path(), "card a"), bytes());
}

TEST_F(PipelineFile, OfAnotherCardIsNotRead) {
  ASSERT_TRUE(write_pipeline_file(path(), "card a", bytes()).has_value());
  EXPECT_FALSE(read_pipeline_file(path(), "card b").has_value());
}

TEST_F(PipelineFile, ThatIsNotAsItWasWrittenIsNotRead) {
  ASSERT_TRUE(write_pipeline_file(path(), "card a", bytes()).has_value());
  const size_t size = std::filesystem::file_size(path());
  for (size_t offset = 0; offset < size; ++offset) {
    ASSERT_TRUE(write_pipeline_file(path(), "card a", bytes()).has_value());
    change(offset, 'x');
    EXPECT_FALSE(read_pipeline_file(path(), "card a").has_value()) << offset;
  }
  for (size_t length = 0; length < size; ++length) {
    ASSERT_TRUE(write_pipeline_file(path(), "card a", bytes()).has_value());
    std::filesystem::resize_file(path(), length);
    EXPECT_FALSE(read_pipeline_file(path(), "card a").has_value()) << length;
  }
}

}  // namespace
}  // namespace evener::device::vulkan
