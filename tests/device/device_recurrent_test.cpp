#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/rig.h"
#include "reference/conv.h"
#include "reference/delta_net.h"

namespace evener::device {
namespace {

using reference::Matrix;

struct Case {
  size_t num_key_heads;
  size_t num_value_heads;
  size_t head_dim;
  size_t conv_taps;
  HeadMapping mapping;
};

const Case kCases[] = {{2, 4, 16, 4, HeadMapping::tiled},   {2, 4, 16, 4, HeadMapping::grouped},
                       {3, 3, 12, 2, HeadMapping::tiled},   {1, 5, 20, 3, HeadMapping::grouped},
                       {2, 2, 64, 1, HeadMapping::grouped}, {2, 6, 128, 4, HeadMapping::tiled},
                       {1, 1, 7, 16, HeadMapping::tiled}};

std::string name(const Case& c) {
  return std::to_string(c.num_key_heads) + "/" + std::to_string(c.num_value_heads) + " heads of " +
         std::to_string(c.head_dim) + ", taps " + std::to_string(c.conv_taps);
}

size_t channels_of(const Case& c) { return (2 * c.num_key_heads + c.num_value_heads) * c.head_dim; }

reference::DeltaNetInput random_input(std::mt19937& random, const Case& c, size_t tokens) {
  reference::DeltaNetInput in = {.qkv = random_matrix(random, tokens, channels_of(c), 2),
                                 .beta = random_matrix(random, tokens, c.num_value_heads, 2),
                                 .alpha = random_matrix(random, tokens, c.num_value_heads, 3),
                                 .a = random_matrix(random, 1, c.num_value_heads),
                                 .dt_bias = random_matrix(random, 1, c.num_value_heads),
                                 .num_key_heads = c.num_key_heads,
                                 .num_value_heads = c.num_value_heads,
                                 .head_dim = c.head_dim,
                                 .tiled = c.mapping == HeadMapping::tiled,
                                 .norm_eps = 1e-6};
  for (double& a : in.a.values) a = -std::abs(a) / 4;  // a short memory would forgive much
  return in;
}

Matrix join_rows(const Matrix& a, const Matrix& b) {
  Matrix joined = a;
  joined.rows += b.rows;
  joined.cols = b.cols;
  joined.values.insert(joined.values.end(), b.values.begin(), b.values.end());
  return joined;
}

class Recurrent : public testing::TestWithParam<TestDevice> {
 protected:
  static constexpr size_t kLayer = 1;

  std::unique_ptr<StateCache> make_cache(Rig& rig, const Case& c) {
    return std::move(rig.device().create_state_cache({.num_layers = 2,
                                                      .num_slots = 4,
                                                      .conv_taps = c.conv_taps,
                                                      .conv_channels = channels_of(c),
                                                      .num_value_heads = c.num_value_heads,
                                                      .head_dim = c.head_dim}))
        .value();
  }

  std::vector<float> conv_batch(Rig& rig, StateCache& cache, const Batch& batch, const Matrix& x,
                                const Matrix& taps) {
    const Tensor y = rig.empty(x.rows, x.cols, 3);
    rig.device().causal_conv_silu(cache, kLayer, batch, rig.put(x, 1), rig.put(taps, 2), y);
    return rig.get(y);
  }

  std::vector<float> delta_batch(Rig& rig, StateCache& cache, const Batch& batch, const Case& c,
                                 const reference::DeltaNetInput& in) {
    const Tensor y = rig.empty(batch.num_rows, c.num_value_heads * c.head_dim, 5);
    rig.device().gated_delta_net(cache, kLayer, batch,
                                 {.qkv = rig.put(in.qkv, 4),
                                  .beta = rig.put(in.beta, 1),
                                  .alpha = rig.put(in.alpha, 2),
                                  .a = rig.put(in.a),
                                  .dt_bias = rig.put(in.dt_bias),
                                  .num_key_heads = c.num_key_heads,
                                  .mapping = c.mapping,
                                  .norm_eps = 1e-6f},
                                 y);
    return rig.get(y);
  }

  // A whole sequence on one slot in chunks.
  std::vector<float> conv(Rig& rig, const Case& c, const Matrix& x, const Matrix& taps,
                          size_t chunk) {
    const auto cache = make_cache(rig, c);
    return in_chunks(x.rows, chunk, [&](const Batch& batch, size_t t) {
      return conv_batch(rig, *cache, batch, rows_of(x, t, batch.num_rows), taps);
    });
  }

  std::vector<float> delta(Rig& rig, const Case& c, const reference::DeltaNetInput& in,
                           size_t chunk) {
    const auto cache = make_cache(rig, c);
    return in_chunks(in.qkv.rows, chunk, [&](const Batch& batch, size_t t) {
      reference::DeltaNetInput part = in;
      part.qkv = rows_of(in.qkv, t, batch.num_rows);
      part.beta = rows_of(in.beta, t, batch.num_rows);
      part.alpha = rows_of(in.alpha, t, batch.num_rows);
      return delta_batch(rig, *cache, batch, c, part);
    });
  }

  template <class Run>
  std::vector<float> in_chunks(size_t tokens, size_t chunk, Run run) {
    std::vector<float> y;
    for (size_t t = 0; t < tokens; t += chunk) {
      const size_t rows = std::min(chunk, tokens - t);
      const Slice slice = {
          .first_row = 0, .num_rows = rows, .first_position = t, .pages = {}, .state_slot = 2};
      const std::vector<float> part = run(Batch{.slices = {&slice, 1}, .num_rows = rows}, t);
      y.insert(y.end(), part.begin(), part.end());
    }
    return y;
  }

  std::mt19937 random_{3};
};

TEST_P(Recurrent, TheConvolutionAgreesWithTheJudgeAndHasEqualBitsForAnyChunks) {
  Rig two(GetParam(), 2);
  Rig one(GetParam(), 1);
  for (const Case& c : kCases) {
    const Matrix x = random_matrix(random_, 70, channels_of(c));
    const Matrix taps = random_matrix(random_, channels_of(c), c.conv_taps);
    const std::vector<float> whole = conv(two, c, x, taps, 70);
    expect_close(whole, reference::causal_conv_silu(x, taps), 2e-6 * GetParam().tolerance_scale,
                 name(c));
    expect_equal_bits(conv(one, c, x, taps, 70), whole, name(c) + " one thread");
    for (const size_t chunk : {1, 2, 3, 17}) {
      expect_equal_bits(conv(two, c, x, taps, chunk), whole,
                        name(c) + " chunk " + std::to_string(chunk));
    }
  }
}

TEST_P(Recurrent, TheDeltaNetAgreesWithTheJudgeAndHasEqualBitsForAnyChunks) {
  Rig two(GetParam(), 2);
  Rig one(GetParam(), 1);
  for (const Case& c : kCases) {
    const reference::DeltaNetInput in = random_input(random_, c, 100);
    const std::vector<float> whole = delta(two, c, in, 100);
    expect_close(whole, reference::gated_delta_net(in), 5e-6 * GetParam().tolerance_scale, name(c));
    expect_equal_bits(delta(one, c, in, 100), whole, name(c) + " one thread");
    for (const size_t chunk : {1, 3, 17, 33}) {
      expect_equal_bits(delta(two, c, in, chunk), whole,
                        name(c) + " chunk " + std::to_string(chunk));
    }
  }
}

TEST_P(Recurrent, SlicesOfABatchDoNotTouchEachOther) {
  Rig rig(GetParam(), 2);
  const Case c = kCases[0];
  const Matrix taps = random_matrix(random_, channels_of(c), c.conv_taps);
  const auto a = random_input(random_, c, 2);
  const auto b = random_input(random_, c, 40);
  reference::DeltaNetInput both = a;
  both.qkv = join_rows(a.qkv, b.qkv);
  both.beta = join_rows(a.beta, b.beta);
  both.alpha = join_rows(a.alpha, b.alpha);
  both.a = b.a;
  both.dt_bias = b.dt_bias;
  const Slice slices[] = {
      {.first_row = 0, .num_rows = 2, .first_position = 0, .pages = {}, .state_slot = 3},
      {.first_row = 2, .num_rows = 40, .first_position = 0, .pages = {}, .state_slot = 0}};
  const Batch batch = {.slices = slices, .num_rows = 42};
  const auto cache = make_cache(rig, c);

  const std::vector<float> conv_both = conv_batch(rig, *cache, batch, both.qkv, taps);
  expect_equal_bits(std::span(conv_both).subspan(2 * channels_of(c)), conv(rig, c, b.qkv, taps, 40),
                    "convolution");
  const std::vector<float> delta_both = delta_batch(rig, *cache, batch, c, both);
  expect_equal_bits(std::span(delta_both).subspan(2 * c.num_value_heads * c.head_dim),
                    delta(rig, c, b, 40), "delta net");
}

TEST_P(Recurrent, AResetSlotStartsAnewAndTheOthersKeepTheirState) {
  Rig rig(GetParam(), 2);
  const Case c = kCases[5];
  const auto in = random_input(random_, c, 20);
  const auto cache = make_cache(rig, c);
  const auto run = [&](int32_t slot) {
    const Slice slice = {
        .first_row = 0, .num_rows = 20, .first_position = 0, .pages = {}, .state_slot = slot};
    return delta_batch(rig, *cache, {.slices = {&slice, 1}, .num_rows = 20}, c, in);
  };
  const std::vector<float> first = run(1);
  expect_equal_bits(run(2), first, "slot 2");
  const std::vector<float> second = run(1);
  EXPECT_NE(first, second);
  rig.device().reset_state(*cache, 2);
  expect_equal_bits(run(2), first, "slot 2 after reset");
  EXPECT_NE(run(1), first);
}

INSTANTIATE_TEST_SUITE_P(Devices, Recurrent, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
