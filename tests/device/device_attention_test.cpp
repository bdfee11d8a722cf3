#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "device/rig.h"
#include "reference/attention.h"
#include "reference/kv_rounding.h"

namespace evener::device {
namespace {

using reference::Matrix;

struct Case {
  size_t num_heads;
  size_t num_kv_heads;
  size_t head_dim;
  size_t page_size;
  KvType type;
};

const Case kCases[] = {
    {4, 2, 16, 16, KvType::f16},    {4, 4, 16, 32, KvType::f32},  {6, 1, 64, 16, KvType::f16},
    {3, 1, 80, 48, KvType::f32},    {8, 2, 128, 64, KvType::f16}, {2, 1, 256, 16, KvType::f16},
    {5, 1, 4, 16, KvType::f32},     {14, 2, 20, 16, KvType::f16}, {70, 1, 16, 16, KvType::f32},
    {16, 2, 128, 256, KvType::f32}, {4, 2, 32, 16, KvType::q8_0}, {6, 1, 96, 48, KvType::q8_0},
    {2, 2, 256, 64, KvType::q8_0},  {4, 2, 16, 16, KvType::fp8},  {7, 1, 20, 32, KvType::fp8},
    {8, 2, 128, 64, KvType::fp8}};

std::string name(const Case& c) {
  return std::to_string(c.num_heads) + "/" + std::to_string(c.num_kv_heads) + " heads of " +
         std::to_string(c.head_dim) + " pages of " + std::to_string(c.page_size) + " " +
         std::string(info(c.type).name);
}

// One sequence's inputs, and its pages in an order that is not that of the cache.
struct Sequence {
  Matrix q;
  Matrix k;
  Matrix v;
  std::vector<int32_t> pages;

  Sequence(std::mt19937& random, const Case& c, size_t tokens)
      : q(random_matrix(random, tokens, c.num_heads * c.head_dim, 2)),
        k(random_matrix(random, tokens, c.num_kv_heads * c.head_dim)),
        v(random_matrix(random, tokens, c.num_kv_heads * c.head_dim)) {}

  Slice slice(size_t first_row, size_t rows, size_t position) const {
    return {.first_row = first_row, .num_rows = rows, .first_position = position, .pages = pages};
  }
};

// What is left of keys or values in a cache.
Matrix kept_as(KvType type, const Matrix& values) {
  switch (type) {
    case KvType::f32:
      break;
    case KvType::f16:
      return reference::round_to_f16(values);
    case KvType::q8_0:
      return reference::round_to_q8_0(values);
    case KvType::fp8:
      return reference::round_to_fp8(values);
  }
  return values;
}

double scale_of(const Case& c) { return 1 / std::sqrt(double(c.head_dim)); }

class Attention : public testing::TestWithParam<TestDevice> {
 protected:
  static constexpr size_t kNumPages = 40;

  std::unique_ptr<KvCache> make_cache(Rig& rig, const Case& c) {
    return std::move(rig.device().create_kv_cache({.num_layers = 2,
                                                   .num_pages = kNumPages,
                                                   .page_size = c.page_size,
                                                   .num_kv_heads = c.num_kv_heads,
                                                   .head_dim = c.head_dim,
                                                   .type = c.type}))
        .value();
  }

  // `sequences` get the cache's pages dealt out in a shuffled order.
  void deal_pages(std::vector<Sequence*> sequences, size_t page_size) {
    std::vector<int32_t> all(kNumPages);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random_);
    for (Sequence* sequence : sequences) {
      const size_t count = (sequence->q.rows + page_size - 1) / page_size;
      ASSERT_LE(count, all.size());
      sequence->pages.assign(all.end() - ptrdiff_t(count), all.end());
      all.resize(all.size() - count);
    }
  }

  // The whole sequence in chunks of `chunk` rows.
  std::vector<float> run(Rig& rig, const Case& c, KvCache& cache, const Sequence& s, size_t chunk) {
    std::vector<float> y;
    for (size_t t = 0; t < s.q.rows; t += chunk) {
      const size_t rows = std::min(chunk, s.q.rows - t);
      const Slice slice = s.slice(0, rows, t);
      const Batch batch = {.slices = {&slice, 1}, .num_rows = rows};
      rig.device().store_kv(cache, 1, batch, rig.put(rows_of(s.k, t, rows), 3),
                            rig.put(rows_of(s.v, t, rows), 5));
      const Tensor out = rig.empty(rows, s.q.cols, 8);
      rig.device().attention(cache, 1, batch, rig.put(rows_of(s.q, t, rows), 7), float(scale_of(c)),
                             out);
      const std::vector<float> part = rig.get(out);
      y.insert(y.end(), part.begin(), part.end());
    }
    return y;
  }

  std::mt19937 random_{2};
};

TEST_P(Attention, AgreesWithTheJudgeForAllShapes) {
  Rig rig(GetParam(), 2);
  for (const Case& c : kCases) {
    for (const size_t tokens : {1, 16, 17, 70, 600}) {
      if (GetParam().is_slow && tokens == 600 && c.num_heads * c.head_dim > 500) continue;
      Sequence s(random_, c, tokens);
      deal_pages({&s}, c.page_size);
      const auto cache = make_cache(rig, c);
      const std::vector<float> y = run(rig, c, *cache, s, tokens);
      const Matrix wanted =
          reference::attention({c.num_heads, c.num_kv_heads, c.head_dim, scale_of(c)}, 0, s.q,
                               kept_as(c.type, s.k), kept_as(c.type, s.v));
      expect_close(y, wanted, 5e-6 * GetParam().tolerance_scale,
                   name(c) + ", tokens " + std::to_string(tokens));
    }
  }
}

TEST_P(Attention, HasEqualBitsForAnyChunksAndNumberOfThreads) {
  Rig two(GetParam(), 2);
  Rig one(GetParam(), 1);
  for (const Case& c : kCases) {
    Sequence s(random_, c, 540);  // past the first span

    deal_pages({&s}, c.page_size);
    const auto cache = make_cache(two, c);
    const std::vector<float> whole = run(two, c, *cache, s, s.q.rows);
    if (GetParam().is_cpu) {
      const auto other = make_cache(one, c);
      expect_equal_bits(run(one, c, *other, s, s.q.rows), whole, name(c) + " one thread");
    }
    // A whole sequence token by token may take a minute a case: the first has the shapes.
    const bool slow = GetParam().is_slow && &c - kCases >= 1;
    for (const size_t chunk : {1, 3, 17, 100}) {
      if (slow && chunk != 100) continue;
      const auto fresh = make_cache(two, c);
      expect_equal_bits(run(two, c, *fresh, s, chunk), whole,
                        name(c) + " chunk " + std::to_string(chunk));
    }
  }
}

TEST_P(Attention, HasEqualBitsWhateverSequencesAreInTheBatch) {
  Rig rig(GetParam(), 2);
  for (const Case& c : kCases) {
    std::vector<Sequence> sequences;
    for (const size_t tokens : {3, 64, 150, 1}) sequences.emplace_back(random_, c, tokens);
    std::vector<Sequence*> pointers;
    for (Sequence& s : sequences) pointers.push_back(&s);
    deal_pages(pointers, c.page_size);
    const auto cache = make_cache(rig, c);

    std::vector<Slice> slices;
    Matrix q(0, c.num_heads * c.head_dim);
    Matrix k(0, c.num_kv_heads * c.head_dim);
    Matrix v(0, c.num_kv_heads * c.head_dim);
    const auto append = [](Matrix& to, const Matrix& from) {
      to.values.insert(to.values.end(), from.values.begin(), from.values.end());
      to.rows += from.rows;
    };
    for (const Sequence& s : sequences) {
      slices.push_back(s.slice(q.rows, s.q.rows, 0));
      append(q, s.q);
      append(k, s.k);
      append(v, s.v);
    }
    const Batch batch = {.slices = slices, .num_rows = q.rows};
    const Tensor out = rig.empty(q.rows, q.cols);
    rig.device().store_kv(*cache, 1, batch, rig.put(k), rig.put(v));
    rig.device().attention(*cache, 1, batch, rig.put(q), float(scale_of(c)), out);

    for (size_t i = 0; i < sequences.size(); ++i) {
      const auto fresh = make_cache(rig, c);
      expect_equal_bits(rig.get(out.row_range(slices[i].first_row, slices[i].num_rows)),
                        run(rig, c, *fresh, sequences[i], 1000),
                        name(c) + " sequence " + std::to_string(i));
    }
  }
}

// A page that another sequence has used holds what it left; if that overflowed, infinities. They
// must not reach a row through the masked end of its last tile, as 0 * infinity would.
TEST_P(Attention, WhatLiesBehindTheLastPositionDoesNotMatter) {
  Rig rig(GetParam(), 2);
  const Case c = {4, 2, 16, 16, KvType::f16};
  Sequence dirt(random_, c, 16);
  for (double& value : dirt.k.values) value = 1e30;
  for (double& value : dirt.v.values) value = 1e30;
  dirt.pages = {0};
  Sequence s(random_, c, 5);
  s.pages = {0};
  const auto cache = make_cache(rig, c);
  const std::vector<float> clean = run(rig, c, *cache, s, 5);
  (void)run(rig, c, *cache, dirt, 16);
  expect_equal_bits(run(rig, c, *cache, s, 5), clean, "at once");
  (void)run(rig, c, *cache, dirt, 16);
  expect_equal_bits(run(rig, c, *cache, s, 1), clean, "one by one");
}

// One position alone: its weight is 1, so that y is its value as it was kept.
TEST_P(Attention, KeepsNumbersOfEverySize) {
  Rig rig(GetParam(), 1);
  for (const KvType type : {KvType::f16, KvType::q8_0, KvType::fp8}) {
    const Case c = {1, 1, 64, 16, type};
    for (int exponent = -24; exponent <= 8; ++exponent) {
      Sequence s(random_, c, 1);
      for (double& value : s.v.values) value = double(float(std::ldexp(value, exponent)));
      deal_pages({&s}, c.page_size);
      const auto cache = make_cache(rig, c);
      const std::vector<float> y = run(rig, c, *cache, s, 1);
      const Matrix wanted = kept_as(type, s.v);
      expect_exact(y, std::vector<float>(wanted.values.begin(), wanted.values.end()),
                   GetParam().rounding, name(c) + " 2^" + std::to_string(exponent));
    }
  }
}

TEST_P(Attention, Fp8CutsWhatIsTooLarge) {
  Rig rig(GetParam(), 1);
  const Case c = {1, 1, 16, 16, KvType::fp8};
  Sequence s(random_, c, 1);
  const std::vector<double> sizes = {447, 449, 463, 465, 480, 1e4, 3e38};
  for (size_t i = 0; i < s.v.values.size(); ++i) {
    s.v.values[i] = sizes[i % sizes.size()] * (i % 2 == 0 ? 1 : -1);
  }
  deal_pages({&s}, c.page_size);
  const auto cache = make_cache(rig, c);
  const std::vector<float> y = run(rig, c, *cache, s, 1);
  std::vector<float> wanted(y.size());
  for (size_t i = 0; i < y.size(); ++i) wanted[i] = i % 2 == 0 ? 448.0f : -448.0f;
  expect_exact(y, wanted, GetParam().rounding, "values");
}

// A model that computes nonsense is to be noticed, whatever its cache is kept in.
TEST_P(Attention, WhatIsNoNumberStaysNone) {
  Rig rig(GetParam(), 1);
  for (const KvType type : {KvType::f32, KvType::f16, KvType::q8_0, KvType::fp8}) {
    for (const double bad : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      const Case c = {1, 1, 32, 16, type};
      for (const bool in_key : {true, false}) {
        Sequence s(random_, c, 3);
        (in_key ? s.k : s.v).at(1, 7) = bad;
        deal_pages({&s}, c.page_size);
        const auto cache = make_cache(rig, c);
        const std::vector<float> y = run(rig, c, *cache, s, 3);
        EXPECT_TRUE(std::isfinite(y[7])) << name(c) << " before it";
        // An infinite key takes all the weight or none in types that know infinities.
        if (in_key && std::isinf(bad) && type < KvType::q8_0) continue;
        EXPECT_FALSE(std::isfinite(y[2 * 32 + 7])) << name(c) << " " << bad << " key " << in_key;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Attention, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
