// Goal: what is read from a page or a slot and written to another, or copied there, gives equal
// bits in every layer, and no other page or slot changes. Method: caches with different contents in
// each layer, and targets that were used before.
#include <gtest/gtest.h>

#include <random>

#include "device/rig.h"

namespace evener::device {
namespace {

using reference::Matrix;
using Bytes = std::vector<std::byte>;

constexpr size_t kNumLayers = 3;

const KvCacheShape kKvShapes[] = {
    {kNumLayers, 6, 16, 2, 32, KvType::f16},  {kNumLayers, 6, 16, 2, 32, KvType::q8_0},
    {kNumLayers, 6, 16, 2, 32, KvType::fp8},  {kNumLayers, 6, 16, 2, 32, KvType::f32},
    {kNumLayers, 6, 64, 4, 128, KvType::f16}, {kNumLayers, 6, 64, 4, 96, KvType::q8_0},
    {kNumLayers, 6, 48, 1, 20, KvType::fp8},  {kNumLayers, 6, 64, 3, 20, KvType::f32},
};

const StateCacheShape kStateShapes[] = {{kNumLayers, 4, 4, 4 * 16, 2, 16},
                                        {kNumLayers, 4, 1, 3 * 20, 1, 20},
                                        {kNumLayers, 4, 3, 8 * 64, 4, 64}};

std::string name(const KvCacheShape& shape) {
  return std::string(info(shape.type).name) + ", " + std::to_string(shape.num_kv_heads) +
         " heads of " + std::to_string(shape.head_dim);
}

class Copies : public testing::TestWithParam<TestDevice> {
 protected:
  std::unique_ptr<KvCache> make(const KvCacheShape& shape) {
    return std::move(rig_.device().create_kv_cache(shape)).value();
  }
  std::unique_ptr<StateCache> make(const StateCacheShape& shape) {
    return std::move(rig_.device().create_state_cache(shape)).value();
  }

  // Random keys and values at all positions but the last of `pages`, others in each layer.
  void fill(KvCache& cache, const std::vector<int32_t>& pages) {
    const size_t rows = pages.size() * cache.shape().page_size - 1;
    const size_t cols = cache.shape().num_kv_heads * cache.shape().head_dim;
    for (size_t layer = 0; layer < kNumLayers; ++layer) {
      const Slice slice = {.first_row = 0, .num_rows = rows, .first_position = 0, .pages = pages};
      rig_.device().store_kv(cache, layer, {.slices = {&slice, 1}, .num_rows = rows},
                             rig_.put(random_matrix(random_, rows, cols)),
                             rig_.put(random_matrix(random_, rows, cols)));
    }
  }

  // Stores one more position and attends to all of them.
  std::vector<float> attend(KvCache& cache, const std::vector<int32_t>& pages, const Matrix& row) {
    std::vector<float> all;
    for (size_t layer = 0; layer < kNumLayers; ++layer) {
      const Slice slice = {.first_row = 0,
                           .num_rows = 1,
                           .first_position = pages.size() * cache.shape().page_size - 1,
                           .pages = pages};
      const Batch batch = {.slices = {&slice, 1}, .num_rows = 1};
      const Tensor x = rig_.put(row);
      const Tensor y = rig_.empty(1, row.cols);
      rig_.device().store_kv(cache, layer, batch, x, x);
      rig_.device().attention(cache, layer, batch, x, 0.2f, y);
      const std::vector<float> part = rig_.get(y);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  // Some tokens through the convolution and the delta net of every layer, on one slot.
  std::vector<float> advance(StateCache& cache, int32_t slot, unsigned seed) {
    constexpr size_t kRows = 5;
    const StateCacheShape& shape = cache.shape();
    std::mt19937 random(seed);
    std::vector<float> all;
    const auto take = [&](size_t rows, size_t cols) {
      return rig_.put(random_matrix(random, rows, cols));
    };
    for (size_t layer = 0; layer < kNumLayers; ++layer) {
      const Slice slice = {
          .first_row = 0, .num_rows = kRows, .first_position = 0, .pages = {}, .state_slot = slot};
      const Batch batch = {.slices = {&slice, 1}, .num_rows = kRows};
      const Tensor qkv = rig_.empty(kRows, shape.conv_channels);
      const Tensor y = rig_.empty(kRows, shape.num_value_heads * shape.head_dim);
      rig_.device().causal_conv_silu(cache, layer, batch, take(kRows, shape.conv_channels),
                                     take(shape.conv_channels, shape.conv_taps), qkv);
      Matrix a = random_matrix(random, 1, shape.num_value_heads);
      for (double& value : a.values) value = -std::abs(value) / 8;
      const size_t key_channels = shape.conv_channels - shape.num_value_heads * shape.head_dim;
      rig_.device().gated_delta_net(cache, layer, batch,
                                    {.qkv = qkv,
                                     .beta = take(kRows, shape.num_value_heads),
                                     .alpha = take(kRows, shape.num_value_heads),
                                     .a = rig_.put(a),
                                     .dt_bias = take(1, shape.num_value_heads),
                                     .num_key_heads = key_channels / 2 / shape.head_dim,
                                     .norm_eps = 1e-6f},
                                    y);
      const std::vector<float> part = rig_.get(y);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Bytes page(const KvCache& cache, int32_t number) {
    Bytes bytes(cache.stored_page_bytes());
    rig_.device().read_page(cache, number, bytes);
    return bytes;
  }
  Bytes state(const StateCache& cache, int32_t slot) {
    Bytes bytes(cache.stored_slot_bytes());
    rig_.device().read_state(cache, slot, bytes);
    return bytes;
  }

  Rig rig_{GetParam(), 2};
  std::mt19937 random_{5};
};

TEST_P(Copies, PagesWrittenBackElsewhereGiveEqualAttention) {
  for (const KvCacheShape& shape : kKvShapes) {
    const auto cache = make(shape);
    const auto other = make(shape);
    fill(*cache, {3, 0, 4});
    fill(*other, {0, 1, 2, 3, 4, 5});
    const Bytes untouched = page(*other, 3);
    const Matrix row = random_matrix(random_, 1, shape.num_kv_heads * shape.head_dim);
    const std::vector<Bytes> saved = {page(*cache, 3), page(*cache, 0), page(*cache, 4)};
    const std::vector<float> wanted = attend(*cache, {3, 0, 4}, row);

    const std::vector<int32_t> places = {1, 5, 2};
    EXPECT_NE(attend(*other, places, row), wanted) << name(shape);
    for (size_t i = 0; i < saved.size(); ++i) rig_.device().write_page(*other, places[i], saved[i]);
    EXPECT_EQ(page(*other, 5), saved[1]) << name(shape);
    expect_equal_bits(attend(*other, places, row), wanted, name(shape));
    EXPECT_EQ(page(*other, 3), untouched) << name(shape);
  }
}

TEST_P(Copies, APageTakesAtLeastWhatItsNumbersTake) {
  for (const KvCacheShape& shape : kKvShapes) {
    const auto cache = make(shape);
    EXPECT_GE(cache->stored_page_bytes(), shape.bytes_per_page()) << name(shape);
    if (shape.head_dim % 64 == 0) {  // no device fills up such rows
      EXPECT_EQ(cache->stored_page_bytes(), shape.bytes_per_page()) << name(shape);
    }
  }
  for (const StateCacheShape& shape : kStateShapes) {
    EXPECT_GE(make(shape)->stored_slot_bytes(), shape.bytes_per_slot());
  }
}

TEST_P(Copies, ACopiedStateGoesOnLikeTheFirstAndApartFromIt) {
  for (const StateCacheShape& shape : kStateShapes) {
    const auto cache = make(shape);
    for (const int32_t slot : {0, 1, 2, 3}) (void)advance(*cache, slot, 100 + unsigned(slot));
    const Bytes untouched[] = {state(*cache, 0), state(*cache, 3)};
    rig_.device().copy_state(*cache, 2, 1);
    const Bytes snapshot = state(*cache, 1);
    const std::vector<float> wanted = advance(*cache, 2, 7);
    EXPECT_EQ(state(*cache, 1), snapshot);
    EXPECT_NE(state(*cache, 2), snapshot);
    expect_equal_bits(advance(*cache, 1, 7), wanted, "the copy");
    EXPECT_EQ(state(*cache, 0), untouched[0]);
    EXPECT_EQ(state(*cache, 3), untouched[1]);
  }
}

TEST_P(Copies, AStateWrittenBackElsewhereGoesOnWithEqualBits) {
  for (const StateCacheShape& shape : kStateShapes) {
    const auto cache = make(shape);
    (void)advance(*cache, 2, 1);
    const Bytes saved = state(*cache, 2);
    const std::vector<float> wanted = advance(*cache, 2, 2);

    StateCacheShape fewer = shape;
    fewer.num_slots = 2;
    const auto other = make(fewer);
    (void)advance(*other, 0, 3);
    (void)advance(*other, 1, 4);
    const Bytes untouched = state(*other, 1);
    rig_.device().write_state(*other, 0, saved);
    expect_equal_bits(advance(*other, 0, 2), wanted, "written back");
    EXPECT_EQ(state(*other, 1), untouched);
  }
}

// A slot of a large model is copied by several threads.
TEST_P(Copies, LargeSlotsAreCopiedWhole) {
  const StateCacheShape shape = {.num_layers = 5,
                                 .num_slots = 2,
                                 .conv_taps = 4,
                                 .conv_channels = 1000,
                                 .num_value_heads = 9,
                                 .head_dim = 128};
  const auto cache = make(shape);
  Bytes bytes(cache->stored_slot_bytes());
  for (std::byte& byte : bytes) byte = std::byte(random_());
  rig_.device().write_state(*cache, 0, bytes);
  rig_.device().copy_state(*cache, 0, 1);
  EXPECT_EQ(state(*cache, 1), bytes);
}

INSTANTIATE_TEST_SUITE_P(Devices, Copies, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
