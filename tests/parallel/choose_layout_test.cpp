#include "parallel/choose_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "parallel/stage_cost.h"

namespace evener::parallel {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

PartCost part(size_t mebibytes) {
  return {.weight_bytes = mebibytes * kMebibyte,
          .cache_bytes = kMebibyte,
          .bytes_per_token = double(mebibytes * kMebibyte),
          .operations_per_token = 0};
}

ModelCost model_of(size_t num_layers, size_t head_mebibytes = 0) {
  ModelCost model{.name = "m.gguf", .layers = {}, .last = {}, .scratch_bytes = 2 * kMebibyte};
  model.layers.assign(num_layers, part(10));
  if (head_mebibytes > 0) model.last = part(head_mebibytes);
  return model;
}

// Each with memory of its own.
std::vector<DeviceCost> devices_of(const std::vector<double>& speeds, size_t mebibytes = 10'000) {
  std::vector<DeviceCost> devices;
  for (const double speed : speeds) {
    devices.push_back({.name = "cpu:" + std::to_string(devices.size()),
                       .memory = devices.size(),
                       .memory_bytes = mebibytes * kMebibyte,
                       .bytes_per_s = speed,
                       .operations_per_s = speed});
  }
  return devices;
}

std::string text_of(const Result<ChosenLayout>& chosen) {
  return chosen ? "" : to_string(chosen.error());
}

std::string grid_text(const LayoutRequest& request, size_t num_devices) {
  const auto grid = grid_of(request, num_devices);
  if (!grid) return to_string(grid.error());
  return std::to_string(grid->num_stages) + " x " + std::to_string(grid->num_shards);
}

TEST(GridOf, WhatIsNotSaidFollowsFromWhatIs) {
  EXPECT_EQ(grid_text({}, 1), "1 x 1");
  EXPECT_EQ(grid_text({}, 3), "1 x 3");
  EXPECT_EQ(grid_text({.num_stages = 2}, 4), "2 x 2");
  EXPECT_EQ(grid_text({.num_shards = 2}, 2), "1 x 2");
  EXPECT_EQ(grid_text({.num_shards = 1}, 3), "3 x 1");
  EXPECT_EQ(grid_text({.borders = {5}}, 2), "2 x 1");
  EXPECT_EQ(grid_text({.borders = {5, 6}}, 6), "3 x 2");
  EXPECT_EQ(grid_text({.ratio = {5, 4}}, 4), "2 x 2");
  EXPECT_EQ(grid_text({.num_shards = 2, .num_stages = 2, .borders = {3}, .ratio = {1, 1}}, 4),
            "2 x 2");
}

TEST(GridOf, SaysWhichNumbersDisagree) {
  EXPECT_EQ(
      grid_text({.num_shards = 2, .num_stages = 2}, 3),
      "cannot lay out the model: --devices: 2 stages with 2 shards each take 4 devices, and 3 "
      "are named\n  name one device for each, or change --stages and --tp");
  EXPECT_EQ(grid_text({.num_shards = 2}, 3),
            "cannot lay out the model: --devices: 1 stage with 2 shards each take 2 devices, and 3 "
            "are named\n  name one device for each, or change --stages and --tp");
  EXPECT_EQ(grid_text({.num_shards = 2}, 1),
            "cannot lay out the model: --devices: 1 stage with 2 shards each take 2 devices, and "
            "one is named\n  name one device for each, or change --stages and --tp");
  EXPECT_EQ(grid_text({.num_stages = 3, .borders = {4}}, 3),
            "cannot lay out the model: --stages and --split: --stages says 3 stages, --split is "
            "for 2");
  EXPECT_EQ(grid_text({.num_shards = 2, .ratio = {5, 4, 3}}, 2),
            "cannot lay out the model: --tp and --ratio: --tp says 2 shards, --ratio is for 3");
  EXPECT_EQ(grid_text({.borders = {10, 5}}, 3),
            "cannot lay out the model: --split: layer 5 does not lie behind layer 10\n"
            "  name the first layer of each further stage, rising: --split 10,20");
  EXPECT_EQ(grid_text({.borders = {0}}, 2).substr(0, 76),
            "cannot lay out the model: --split: layer 0 does not lie behind layer 0\n  nam");
  for (const double share : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_NE(grid_text({.ratio = {5, share}}, 2).find("is not above 0"), std::string::npos);
  }
  EXPECT_NE(grid_text({}, 0).find("0 devices are named"), std::string::npos);
  EXPECT_NE(grid_text({}, 1000).find("1000 devices are named"), std::string::npos);
  EXPECT_NE(grid_text({.num_shards = SIZE_MAX, .num_stages = 2}, 2).find("more than the 64"),
            std::string::npos);
}

TEST(ChooseLayout, WhatWasSaidIsKept) {
  const auto chosen = choose_layout(model_of(8), devices_of({1, 9, 1, 1}),
                                    {.num_shards = 2,
                                     .num_stages = 2,
                                     .borders = {3},
                                     .ratio = {5, 4},
                                     .experts = ExpertCut::whole});
  ASSERT_TRUE(chosen.has_value()) << text_of(chosen);
  EXPECT_EQ(chosen->layout.borders, std::vector<size_t>{3});
  EXPECT_EQ(chosen->layout.ratio, (std::vector<double>{5, 4}));
  EXPECT_EQ(chosen->layout.experts, ExpertCut::whole);
  EXPECT_EQ(chosen->device_of_rank, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(ChooseLayout, SaysWhatTheModelCannot) {
  EXPECT_EQ(text_of(choose_layout(model_of(2), devices_of({1, 1, 1}), {.num_stages = 3})),
            "cannot lay out the model: m.gguf: 3 stages are asked for, and it has 2 layers\n"
            "  use fewer stages (--stages), each of which needs a layer");
  EXPECT_EQ(text_of(choose_layout(model_of(4), devices_of({1, 1}), {.borders = {4}})),
            "cannot lay out the model: --split: no stage can begin at layer 4: m.gguf has 4 "
            "layers, counted from 0\n  use layers from 1 to 3");
}

TEST(ChooseLayout, ASplitThatDoesNotFitIsRefusedWithTheDeviceAndTheBytes) {
  auto devices = devices_of({1, 1}, 100);
  devices[1].memory_bytes = 30 * kMebibyte;
  EXPECT_EQ(text_of(choose_layout(model_of(4, 20), devices, {.borders = {2}})),
            "cannot lay out the model: m.gguf: cpu:1 with layers 2 to 3 and the head needs 45.0 "
            "MiB, 30.0 MiB are free there: 15.0 MiB too few\n"
            "  give that device less (--split, --ratio), free memory, ask for a shorter context "
            "(--ctx), or take a smaller quantisation");
  EXPECT_NE(text_of(choose_layout(model_of(4, 20), devices, {.ratio = {1, 1}}))
                .find("cpu:1 with 50 % of layers 0 to 3 and the head needs 34.5 MiB, 30.0 MiB are "
                      "free there: 4.50 MiB too few"),
            std::string::npos);
}

TEST(ChooseLayout, DevicesThatShareAMemoryMustFitTogether) {
  auto devices = devices_of({1, 1}, 60);
  devices[1].memory = devices[0].memory;
  const std::string text = text_of(choose_layout(model_of(6), devices, {}));
  EXPECT_NE(text.find("cpu:0 with 50 % of layers 0 to 5 and the head needs 35.0 MiB, cpu:1 with 50 "
                      "% of layers 0 to 5 and the head needs 35.0 MiB, together 70.0 MiB, 60.0 MiB "
                      "are free there: 10.0 MiB too few"),
            std::string::npos)
      << text;
  EXPECT_TRUE(choose_layout(model_of(5), devices, {}).has_value());
}

TEST(ChooseLayout, AFasterDeviceGetsMoreLayersAndTheHeadGoesWhereItCostsLeast) {
  const auto uneven = choose_layout(model_of(9), devices_of({2, 1}), {.num_stages = 2});
  ASSERT_TRUE(uneven.has_value()) << text_of(uneven);
  EXPECT_EQ(uneven->layout.borders, std::vector<size_t>{6});
  EXPECT_EQ(uneven->device_of_rank, (std::vector<size_t>{0, 1}));

  // The head is as much as five layers, so it goes to the faster device, which stands first.
  const auto headed = choose_layout(model_of(5, 50), devices_of({5, 1}), {.num_stages = 2});
  ASSERT_TRUE(headed.has_value()) << text_of(headed);
  EXPECT_EQ(headed->device_of_rank, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(headed->layout.borders, std::vector<size_t>{1});
}

TEST(ChooseLayout, MemoryMovesTheBorder) {
  auto devices = devices_of({1, 1}, 1000);
  devices[0].memory_bytes = 30 * kMebibyte;  // two layers of 11 MiB and the scratch
  const auto chosen = choose_layout(model_of(10), devices, {.num_stages = 2});
  ASSERT_TRUE(chosen.has_value()) << text_of(chosen);
  EXPECT_EQ(chosen->layout.borders, std::vector<size_t>{2});
  devices[1].memory_bytes = 60 * kMebibyte;
  EXPECT_EQ(text_of(choose_layout(model_of(10), devices, {.num_stages = 2})),
            "cannot lay out the model: m.gguf: needs 114 MiB in all, and free are cpu:0 30.0 MiB, "
            "cpu:1 60.0 MiB: 24.0 MiB too few\n"
            "  give that device less (--split, --ratio), free memory, ask for a shorter context "
            "(--ctx), or take a smaller quantisation");
}

TEST(ChooseLayout, AMeasuredRatioFollowsSpeedAndStopsAtMemory) {
  const auto by_speed = choose_layout(model_of(10), devices_of({3, 1}), {.measure_ratio = true});
  ASSERT_TRUE(by_speed.has_value()) << text_of(by_speed);
  EXPECT_EQ(by_speed->layout.ratio, (std::vector<double>{75, 25}));

  const auto alike = choose_layout(model_of(10), devices_of({1, 1.04}), {.measure_ratio = true});
  EXPECT_EQ(alike->layout.ratio, (std::vector<double>{50, 50}));

  auto devices = devices_of({3, 1}, 1000);
  devices[0].memory_bytes = 46 * kMebibyte;  // of 110 MiB and the scratch: 0.4
  const auto by_memory = choose_layout(model_of(10), devices, {.measure_ratio = true});
  ASSERT_TRUE(by_memory.has_value()) << text_of(by_memory);
  EXPECT_EQ(by_memory->layout.ratio, (std::vector<double>{40, 60}));
  devices[1].memory_bytes = 20 * kMebibyte;
  EXPECT_NE(text_of(choose_layout(model_of(10), devices, {.measure_ratio = true})).find("too few"),
            std::string::npos);
}

TEST(ChooseLayout, TellsWhetherSpeedsMatter) {
  EXPECT_FALSE(depends_on_speed({}, {.num_stages = 1, .num_shards = 2}));
  EXPECT_FALSE(depends_on_speed({.borders = {3}}, {.num_stages = 2, .num_shards = 1}));
  EXPECT_TRUE(depends_on_speed({}, {.num_stages = 2, .num_shards = 1}));
  EXPECT_TRUE(depends_on_speed({.measure_ratio = true}, {.num_stages = 1, .num_shards = 2}));
  EXPECT_FALSE(depends_on_speed({.measure_ratio = true}, {.num_stages = 1, .num_shards = 1}));
}

// All orders and all borders, one by one.
class BruteForce {
 public:
  BruteForce(const ModelCost& model, const std::vector<DeviceCost>& devices, size_t num_shards)
      : layers_(model), devices_(devices), shares_(num_shards, 1.0 / double(num_shards)) {}

  // Infinite if nothing fits.
  double least() {
    Split split{.borders = {}, .device_of_rank = std::vector<size_t>(devices_.size())};
    std::iota(split.device_of_rank.begin(), split.device_of_rank.end(), size_t{0});
    do {
      try_borders(split);
    } while (std::ranges::next_permutation(split.device_of_rank).found);
    return least_;
  }

 private:
  void try_borders(Split& split) {
    if (split.borders.size() + 1 == devices_.size() / shares_.size()) return judge(split);
    const size_t first = split.borders.empty() ? 1 : split.borders.back() + 1;
    for (size_t border = first; border < layers_.num_layers(); ++border) {
      split.borders.push_back(border);
      try_borders(split);
      split.borders.pop_back();
    }
  }

  void judge(const Split& split) {
    for (size_t rank = 0; rank < split.device_of_rank.size(); ++rank) {
      const size_t stage = rank / shares_.size();
      const PartCost cost =
          layers_.of(stage_begin(split, stage), stage_end(split, stage, layers_.num_layers()));
      const size_t needed = needed_bytes(cost, shares_[0], layers_.scratch_bytes());
      if (needed > devices_[split.device_of_rank[rank]].memory_bytes) return;
    }
    const auto seconds = stage_seconds(layers_, devices_, split, shares_);
    least_ = std::min(least_, std::ranges::max(seconds));
  }

  LayerSums layers_;
  const std::vector<DeviceCost>& devices_;
  std::vector<double> shares_;
  double least_ = std::numeric_limits<double>::infinity();
};

PartCost random_part(std::mt19937& random) {
  const auto draw = [&](size_t most) { return 1 + random() % most; };
  return {.weight_bytes = draw(100) * kMebibyte,
          .cache_bytes = draw(10) * kMebibyte,
          .bytes_per_token = double(draw(100) * kMebibyte),
          .operations_per_token = double(draw(100) * kMebibyte)};
}

TEST(ChooseLayout, NoSplitIsBetterThanTheOneItFinds) {
  size_t num_fitting = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const size_t num_stages = 2 + random() % 3;
    const size_t num_shards = num_stages == 2 ? 1 + random() % 2 : 1;
    ModelCost model{.name = "random", .layers = {}, .last = {}, .scratch_bytes = kMebibyte};
    const size_t num_layers = num_stages + random() % 6;
    for (size_t i = 0; i < num_layers; ++i) model.layers.push_back(random_part(random));
    if (random() % 2 == 0) model.last = random_part(random);
    auto devices = devices_of(std::vector<double>(num_stages * num_shards, 1.0));
    for (DeviceCost& device : devices) {
      device.bytes_per_s = double(1 + random() % 4) * 1e9;
      device.operations_per_s = double(1 + random() % 4) * 1e9;
      device.memory_bytes = (100 + random() % 400) * kMebibyte;
    }
    const double least = BruteForce(model, devices, num_shards).least();
    const auto chosen =
        choose_layout(model, devices, {.num_shards = num_shards, .num_stages = num_stages});
    ASSERT_EQ(chosen.has_value(), std::isfinite(least)) << seed << text_of(chosen);
    if (!chosen) continue;
    ++num_fitting;
    EXPECT_NEAR(std::ranges::max(chosen->stage_seconds), least, 1e-6 * least) << seed;
  }
  EXPECT_GT(num_fitting, 100u);
}

TEST(ChooseLayout, ManyDevicesAndLayersAreNoMatter) {
  const auto eight =
      choose_layout(model_of(128, 30), devices_of({1, 2, 3, 4, 5, 6, 7, 8}), {.num_stages = 8});
  ASSERT_TRUE(eight.has_value()) << text_of(eight);
  const auto many =
      choose_layout(model_of(128), devices_of(std::vector<double>(16, 1.0)), {.num_stages = 16});
  ASSERT_TRUE(many.has_value()) << text_of(many);
  EXPECT_EQ(many->layout.borders.size(), 15u);
  EXPECT_EQ(many->layout.borders[0], 8u);
}

}  // namespace
}  // namespace evener::parallel
