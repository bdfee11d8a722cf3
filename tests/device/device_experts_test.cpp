// Goal: routing and experts give what the judge gives, on every device; on the CPU an expert is a
// linear map to the bit, and on all of them a row's bits depend on that row alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "device/rig.h"
#include "device/stored_weight.h"
#include "quant/format.h"
#include "reference/experts.h"

namespace evener::device {
namespace {

using reference::Matrix;
using Random = std::mt19937;

struct Types {
  DType gate;
  DType up;
  DType down;
};

struct ExpertSet {
  Stored gate;
  Stored up;
  Stored down;
  std::unique_ptr<Weight> packed_gate;
  std::unique_ptr<Weight> packed_up;
  std::unique_ptr<Weight> packed_down;

  ExpertSet(Random& random, Device& device, const RoutingShape& shape, const Types& types)
      : gate(random_weight(random, types.gate, shape.intermediate_size, shape.hidden_size,
                           shape.num_experts)),
        up(random_weight(random, types.up, shape.intermediate_size, shape.hidden_size,
                         shape.num_experts)),
        down(random_weight(random, types.down, shape.hidden_size, shape.intermediate_size,
                           shape.num_experts)),
        packed_gate(device.upload(gate.source(), WeightUse::linear).value()),
        packed_up(device.upload(up.source(), WeightUse::linear).value()),
        packed_down(device.upload(down.source(), WeightUse::linear).value()) {}

  ExpertWeights weights() const { return {packed_gate.get(), packed_up.get(), packed_down.get()}; }
  reference::StoredExperts judged() const {
    return {gate.num_experts, gate.judged(), up.judged(), down.judged()};
  }
};

struct ReadChoices {
  std::vector<int32_t> experts;
  std::vector<float> weights;
};

class Experts : public testing::TestWithParam<TestDevice> {
 protected:
  Device& device() { return rig_.device(); }

  std::unique_ptr<Routing> make_routing(const RoutingShape& shape) {
    return device().create_routing(shape).value();
  }
  ReadChoices read_choices(const Routing& routing, size_t rows) {
    const size_t count = rows * routing.shape().num_chosen;
    ReadChoices read{std::vector<int32_t>(count), std::vector<float>(count)};
    device().read_choices(routing, read.experts, read.weights);
    return read;
  }
  std::vector<uint64_t> uses(const Routing& routing, size_t layer) {
    std::vector<uint64_t> counts(routing.shape().num_experts);
    device().read_expert_uses(routing, layer, counts);
    return counts;
  }
  std::vector<float> run(Routing& routing, const ExpertSet& experts, const Matrix& logits,
                         const Matrix& x) {
    device().route(routing, 0, rig_.put(logits, 3), {});
    const Tensor y = rig_.empty(x.rows, x.cols, 5);
    device().expert_ffn(routing, rig_.put(x, 7), experts.weights(), y);
    return rig_.get(y);
  }

  Rig rig_{GetParam(), 2};
  Random random_{20261129};
};

RoutingShape shape_of(size_t num_experts, size_t num_chosen, size_t num_rows = 300,
                      size_t hidden_size = 64, size_t intermediate_size = 32) {
  return {.num_layers = 2,
          .num_rows = num_rows,
          .num_experts = num_experts,
          .num_chosen = num_chosen,
          .hidden_size = hidden_size,
          .intermediate_size = intermediate_size};
}

struct RouteCase {
  size_t num_experts;
  size_t num_chosen;
  Scoring scoring;
  bool has_bias;
  bool renormalise;
  float scale;
};

TEST_P(Experts, RoutesAsTheJudgeDoes) {
  for (const RouteCase& c : {RouteCase{6, 2, Scoring::softmax, false, true, 1},
                             RouteCase{1, 1, Scoring::softmax, false, true, 1},
                             RouteCase{8, 8, Scoring::softmax, false, false, 1},
                             RouteCase{32, 4, Scoring::softmax, true, true, 2.5f},
                             RouteCase{100, 6, Scoring::sigmoid, true, true, 1.5f},
                             RouteCase{257, 10, Scoring::sigmoid, false, false, 1},
                             RouteCase{512, 10, Scoring::softmax, false, true, 1}}) {
    const Matrix logits = random_matrix(random_, 40, c.num_experts, 3);
    const Matrix bias = c.has_bias ? random_matrix(random_, 1, c.num_experts, 0.1) : Matrix();
    const auto wanted = reference::route({.num_chosen = c.num_chosen,
                                          .sigmoid = c.scoring == Scoring::sigmoid,
                                          .bias = bias,
                                          .renormalise = c.renormalise,
                                          .scale = double(c.scale)},
                                         logits);
    const auto routing = make_routing(shape_of(c.num_experts, c.num_chosen));
    device().route(*routing, 0, rig_.put(logits, 2),
                   {.scoring = c.scoring,
                    .bias = c.has_bias ? rig_.put(bias) : Tensor(),
                    .renormalise = c.renormalise,
                    .scale = c.scale});
    const ReadChoices got = read_choices(*routing, logits.rows);
    EXPECT_TRUE(std::ranges::equal(got.experts, wanted.experts)) << c.num_experts << " experts";
    expect_close(got.weights, wanted.weights, 1e-6 * GetParam().tolerance_scale,
                 std::to_string(c.num_experts) + " experts");
  }
}

TEST_P(Experts, OfEqualScoresTheLowerNumberComesFirst) {
  for (const Scoring scoring : {Scoring::softmax, Scoring::sigmoid}) {
    Matrix logits(2, 20);
    for (const size_t e : {3, 17, 18}) logits.at(1, e) = 1;
    logits.at(1, 9) = 2;
    const auto routing = make_routing(shape_of(20, 5));
    device().route(*routing, 0, rig_.put(logits), {.scoring = scoring});
    EXPECT_EQ(read_choices(*routing, 2).experts,
              (std::vector<int32_t>{0, 1, 2, 3, 4, 9, 3, 17, 18, 0}));
  }
}

TEST_P(Experts, ASumOfNearlyNothingIsNotDividedBy) {
  const Matrix logits = [] {
    Matrix all(1, 4);
    std::ranges::fill(all.values, -20);
    return all;
  }();
  const auto routing = make_routing(shape_of(4, 2));
  device().route(*routing, 0, rig_.put(logits), {.scoring = Scoring::sigmoid});
  const float score = float(1 / (1 + std::exp(20.0)));
  for (const float weight : read_choices(*routing, 1).weights) {
    expect_exact(weight, score / 0x1p-14f, 1e-6 * GetParam().tolerance_scale, "weight");
  }
}

// A broken weight must not send a row to an expert that does not exist, or twice to one.
TEST_P(Experts, LogitsThatAreNotNumbersStillChooseDifferentExperts) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  Matrix logits(4, 9);
  std::ranges::fill(logits.values, nan);
  logits.at(1, 8) = 1;
  logits.at(1, 4) = 2;
  for (size_t e = 0; e < 9; ++e) logits.at(2, e) = inf;
  for (size_t e = 0; e < 9; ++e) logits.at(3, e) = -inf;
  for (const Scoring scoring : {Scoring::softmax, Scoring::sigmoid}) {
    const auto routing = make_routing(shape_of(9, 4));
    device().route(*routing, 0, rig_.put(logits), {.scoring = scoring});
    const ReadChoices got = read_choices(*routing, 4);
    for (size_t r = 0; r < 4; ++r) {
      const std::set<int32_t> different(&got.experts[4 * r], &got.experts[4 * r] + 4);
      EXPECT_EQ(different.size(), 4u);
      EXPECT_GE(*different.begin(), 0);
      EXPECT_LT(*different.rbegin(), 9);
    }
    if (scoring == Scoring::sigmoid) {
      EXPECT_EQ(got.experts[4], 4);
      EXPECT_EQ(got.experts[5], 8);
    }
  }
}

TEST_P(Experts, CountsWhatEachLayerUses) {
  const Matrix logits = random_matrix(random_, 100, 12);
  const auto routing = make_routing(shape_of(12, 3));
  device().route(*routing, 1, rig_.put(logits), {});
  device().route(*routing, 1, rig_.put(rows_of(logits, 0, 10)), {});
  std::vector<uint64_t> wanted(12);
  const auto choices = reference::route({.num_chosen = 3}, logits);
  for (size_t i = 0; i < choices.experts.size(); ++i) {
    wanted[choices.experts[i]] += i < 10 * 3 ? 2 : 1;
  }
  EXPECT_EQ(uses(*routing, 1), wanted);
  EXPECT_EQ(uses(*routing, 0), std::vector<uint64_t>(12));
}

TEST_P(Experts, AgreeWithTheJudgeOnRandomShapes) {
  struct Case {
    size_t num_experts;
    size_t num_chosen;
    size_t rows;
    size_t hidden_size;
    size_t intermediate_size;
  };
  for (const Case& c : {Case{1, 1, 3, 4, 4}, Case{6, 2, 1, 64, 32}, Case{6, 3, 50, 100, 20},
                        Case{40, 8, 17, 36, 260}, Case{3, 3, 140, 12, 8}}) {
    const RoutingShape shape =
        shape_of(c.num_experts, c.num_chosen, c.rows, c.hidden_size, c.intermediate_size);
    for (const DType type : {DType::F32, DType::F16}) {
      const ExpertSet experts(random_, device(), shape, {type, type, type});
      const Matrix logits = random_matrix(random_, c.rows, c.num_experts, 2);
      const Matrix x = random_matrix(random_, c.rows, c.hidden_size);
      const auto routing = make_routing(shape);
      const auto choices = reference::route({.num_chosen = c.num_chosen}, logits);
      expect_close(run(*routing, experts, logits, x),
                   reference::expert_ffn(experts.judged(), choices, x),
                   2e-6 * GetParam().tolerance_scale, std::to_string(c.num_experts) + " experts");
    }
  }
}

// Relative to the largest value: halves are rounded to 8 bits, and one that lies on the border
// between two codes may fall the other way than the judge's.
double distance(std::span<const float> got, const Matrix& wanted) {
  double distance = 0;
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double gap = std::abs(double(got[i]) - wanted.values[i]);
    distance = std::isfinite(gap) ? std::max(distance, gap) : HUGE_VAL;
    largest = std::max(largest, std::abs(wanted.values[i]));
  }
  return distance / largest;
}

TEST_P(Experts, OfEveryFormatAgreeWithTheJudge) {
  constexpr size_t kRows = 12;
  for (const quant::Format* const format : quant::formats()) {
    const DType type = format->dtype;
    const size_t size = std::max<size_t>(info(type).block_size, 64);
    const RoutingShape shape = shape_of(3, 2, kRows, size, size);
    const ExpertSet experts(random_, device(), shape, {type, type, type});
    const Matrix logits = random_matrix(random_, kRows, 3);
    const Matrix x = random_matrix(random_, kRows, size, 0.1);  // what is between stays in f16
    const auto routing = make_routing(shape);
    const Matrix wanted =
        reference::expert_ffn(experts.judged(), reference::route({.num_chosen = 2}, logits), x);
    for (const size_t rows : {size_t{1}, kRows}) {
      const auto got = run(*routing, experts, rows_of(logits, 0, rows), rows_of(x, 0, rows));
      EXPECT_LE(distance(got, rows_of(wanted, 0, rows)), 1e-3)
          << info(type).name << ", " << rows << " rows";
    }
  }
}

// What one expert says about one row, by the operations that dense layers use.
std::vector<float> by_linear_maps(Rig& rig, const ExpertSet& experts, size_t expert,
                                  const Matrix& row) {
  Device& device = rig.device();
  const auto map = [&](const Stored& stack, const Tensor& x) {
    const auto weight = device.upload(stack.source_of(expert), WeightUse::linear).value();
    const Tensor y = rig.empty(1, stack.outputs);
    const LinearPart part{.weight = weight.get(), .bias = {}, .y = y};
    device.linear(x, {&part, 1});
    return y;
  };
  const Tensor x = rig.put(row);
  const Tensor gate = map(experts.gate, x);
  device.silu_mul(gate, map(experts.up, x), gate);
  return rig.get(map(experts.down, gate));
}

// Method: rows spread over experts so that some have one, some more than the few-rows kernels take.
TEST_P(Experts, AreLinearMapsForEveryMixtureOfTypes) {
  const RoutingShape shape = shape_of(5, 3, 33, 256, 256);
  for (const Types& types :
       {Types{DType::F32, DType::F32, DType::F32}, Types{DType::Q4_K, DType::Q4_K, DType::Q8_0},
        Types{DType::Q8_0, DType::Q4_K, DType::Q4_K}, Types{DType::F16, DType::Q8_0, DType::F32}}) {
    const ExpertSet experts(random_, device(), shape, types);
    Matrix logits = random_matrix(random_, 33, 5);
    for (size_t r = 0; r < 33; ++r) logits.at(r, 2) = r == 7 ? 5 : -5;
    const Matrix x = random_matrix(random_, 33, 256);
    const auto routing = make_routing(shape);
    const std::vector<float> got = run(*routing, experts, logits, x);
    const ReadChoices choices = read_choices(*routing, 33);
    for (const size_t row : {0, 7, 32}) {
      std::vector<float> wanted(256);
      for (size_t k = 0; k < 3; ++k) {
        const size_t choice = row * 3 + k;
        const std::vector<float> said =
            by_linear_maps(rig_, experts, size_t(choices.experts[choice]), rows_of(x, row, 1));
        for (size_t c = 0; c < 256; ++c) {
          wanted[c] = std::fma(choices.weights[choice], said[c], wanted[c]);
        }
      }
      const std::string what = "row " + std::to_string(row);
      const auto said = std::span(got).subspan(row * 256, 256);
      if (GetParam().is_cpu) {
        expect_equal_bits(said, wanted, what);
      } else {
        Matrix judged(1, 256);
        std::ranges::copy(wanted, judged.values.begin());
        EXPECT_LE(distance(said, judged), 1e-3) << what;
      }
    }
  }
}

TEST_P(Experts, ARowHasTheSameBitsWhateverTheRowsAndThreadsBesideIt) {
  const RoutingShape shape = shape_of(6, 2, 300, 256, 256);
  for (const DType type : {DType::F32, DType::Q8_0, DType::Q4_K}) {
    const ExpertSet experts(random_, device(), shape, {type, type, type});
    Matrix logits = random_matrix(random_, 300, 6);
    for (size_t r = 0; r < 280; ++r) logits.at(r, 4) = 9;  // more rows than a tile has
    const Matrix x = random_matrix(random_, 300, 256);
    const auto routing = make_routing(shape);
    const std::vector<float> all = run(*routing, experts, logits, x);
    for (const size_t rows : {1, 3, 8, 9, 17, 130}) {
      const size_t first = 300 - rows - rows % 7;
      expect_equal_bits(
          run(*routing, experts, rows_of(logits, first, rows), rows_of(x, first, rows)),
          std::span(all).subspan(first * 256, rows * 256), std::to_string(rows) + " rows");
    }
  }
}

// Experts [first, first + count) of the stacks.
struct SomeExperts {
  std::unique_ptr<Weight> gate;
  std::unique_ptr<Weight> up;
  std::unique_ptr<Weight> down;
  size_t first;

  SomeExperts(Device& device, const ExpertSet& all, size_t first_expert, size_t count)
      : gate(device.upload(all.gate.source_of(first_expert, count), WeightUse::linear).value()),
        up(device.upload(all.up.source_of(first_expert, count), WeightUse::linear).value()),
        down(device.upload(all.down.source_of(first_expert, count), WeightUse::linear).value()),
        first(first_expert) {}

  ExpertWeights weights() const { return {gate.get(), up.get(), down.get(), first}; }
};

// The judge's choices without those of other experts: they weigh nothing.
reference::Choices only(reference::Choices choices, size_t first, size_t count) {
  for (size_t i = 0; i < choices.experts.size(); ++i) {
    const size_t expert = choices.experts[i];
    if (expert < first || expert >= first + count) choices.weights.values[i] = 0;
  }
  return choices;
}

// Method: a row that chooses none of those here, rows that choose some, more rows than a tile has.
TEST_P(Experts, ThatAreElsewhereAddNothing) {
  const RoutingShape shape = shape_of(6, 2, 90, 256, 256);
  for (const DType type : {DType::F32, DType::Q4_K}) {
    const ExpertSet experts(random_, device(), shape, {type, type, type});
    Matrix logits = random_matrix(random_, 90, 6);
    for (size_t r = 0; r < 60; ++r) logits.at(r, 4) = 9;
    logits.at(0, 5) = 8;
    const Matrix x = random_matrix(random_, 90, 256);
    const Tensor input = rig_.put(x, 7);
    const auto routing = make_routing(shape);
    device().route(*routing, 0, rig_.put(logits), {});
    const auto choices = reference::route({.num_chosen = 2}, logits);
    std::vector<float> sum(x.rows * x.cols);
    for (const auto& [first, count] : {std::pair<size_t, size_t>{0, 1}, {1, 3}, {4, 2}}) {
      const SomeExperts some(device(), experts, first, count);
      const Tensor y = rig_.empty(x.rows, x.cols, 5);
      device().expert_ffn(*routing, input, some.weights(), y);
      const std::vector<float> said = rig_.get(y);
      if (type == DType::F32) {
        expect_close(said, reference::expert_ffn(experts.judged(), only(choices, first, count), x),
                     2e-6 * GetParam().tolerance_scale, "from expert " + std::to_string(first));
      }
      if (first == 0) {
        EXPECT_EQ(std::ranges::count(std::span(said).first(256), 0.0F), 256);
      }
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += said[i];
    }
    const Tensor y = rig_.empty(x.rows, x.cols);
    device().expert_ffn(*routing, input, experts.weights(), y);
    const std::vector<float> all = rig_.get(y);
    const float largest = std::ranges::max(all);
    for (size_t i = 0; i < sum.size(); ++i) {
      ASSERT_NEAR(sum[i], all[i], 1e-6 * largest * GetParam().tolerance_scale) << i;
    }
    const std::vector<uint64_t> counts = uses(*routing, 0);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), uint64_t{0}), 180U);
  }
}

TEST_P(Experts, ThreadsChangeNoBit) {
  const RoutingShape shape = shape_of(16, 4, 20, 256, 512);
  std::vector<std::vector<float>> results;
  for (const size_t num_threads : {1, 3}) {
    Random random(7);
    Rig rig(GetParam(), num_threads);
    const Types types{DType::Q4_K, DType::Q4_K, DType::Q4_K};
    const ExpertSet experts(random, rig.device(), shape, types);
    const auto routing = rig.device().create_routing(shape).value();
    rig.device().route(*routing, 0, rig.put(random_matrix(random, 20, 16)), {});
    const Tensor y = rig.empty(20, 256);
    rig.device().expert_ffn(*routing, rig.put(random_matrix(random, 20, 256)), experts.weights(),
                            y);
    results.push_back(rig.get(y));
  }
  expect_equal_bits(results[0], results[1], "threads");
}

TEST_P(Experts, NoRowsAreNoWork) {
  const RoutingShape shape = shape_of(4, 2);
  const ExpertSet experts(random_, device(), shape, {DType::F32, DType::F32, DType::F32});
  const auto routing = make_routing(shape);
  EXPECT_TRUE(run(*routing, experts, Matrix(0, 4), Matrix(0, 64)).empty());
  EXPECT_EQ(uses(*routing, 0), std::vector<uint64_t>(4));
}

TEST_P(Experts, ThatDoNotFitAreAnError) {
  const auto routing = device().create_routing(shape_of(4, 4, size_t{1} << 40));
  ASSERT_FALSE(routing.has_value());
  EXPECT_EQ(routing.error().code, Code::out_of_memory);
}

INSTANTIATE_TEST_SUITE_P(Devices, Experts, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
