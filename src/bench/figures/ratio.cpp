#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/statistics.h"

namespace evener::bench {
namespace {

constexpr uint64_t kSamplesMin = 3;
constexpr uint64_t kDrawsMax = 200'000'000;  // keeps one estimate below a second
constexpr unsigned kResamplesMin = 1'000;

using Rounds = std::vector<std::vector<double>>;

// splitmix64: a result must be the same on every machine, which std::uniform_int_distribution does
// not promise.
class Draws {
 public:
  uint32_t below(uint32_t limit) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return uint32_t(((z >> 32) * limit) >> 32);
  }

 private:
  uint64_t state_ = 1;
};

// All samples of one side. A resample is how often each was drawn; its median comes from walking
// them in order of size, without sorting again.
class Side {
 public:
  explicit Side(const Rounds& rounds) {
    for (const std::vector<double>& round : rounds) {
      begin_.push_back(uint32_t(values_.size()));
      values_.insert(values_.end(), round.begin(), round.end());
    }
    begin_.push_back(uint32_t(values_.size()));
    order_.resize(values_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return values_[a] < values_[b]; });
    take_each_once();
  }

  size_t num_samples() const { return values_.size(); }
  uint32_t num_rounds() const { return uint32_t(begin_.size() - 1); }
  uint32_t size_of(uint32_t round) const { return begin_[round + 1] - begin_[round]; }

  void take_each_once() {
    counts_.assign(values_.size(), 1);
    num_taken_ = values_.size();
  }
  void take_none() {
    std::fill(counts_.begin(), counts_.end(), 0);
    num_taken_ = 0;
  }
  void take(uint32_t round, uint32_t index) {
    ++counts_[begin_[round] + index];
    ++num_taken_;
  }

  double median() const {
    const uint64_t rank = (num_taken_ + 1) / 2;
    uint64_t reached = 0;
    for (const uint32_t place : order_) {
      reached += counts_[place];
      if (reached >= rank) return values_[place];
    }
    return 0;  // not reached: something was taken
  }

 private:
  std::vector<double> values_;
  std::vector<uint32_t> begin_;  // of each round in values_, and the end
  std::vector<uint32_t> order_;  // places in values_, smallest value first
  std::vector<uint32_t> counts_;
  uint64_t num_taken_ = 0;
};

void take_round(Draws& draws, Side& side, uint32_t round) {
  const uint32_t size = side.size_of(round);
  for (uint32_t i = 0; i < size; ++i) side.take(round, draws.below(size));
}

void take_round_of_both(Draws& draws, Side& a, Side& b, uint32_t round) {
  const uint32_t size = a.size_of(round);
  if (b.size_of(round) != size) {
    take_round(draws, a, round);
    take_round(draws, b, round);
    return;
  }
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t index = draws.below(size);
    a.take(round, index);
    b.take(round, index);
  }
}

void resample(Draws& draws, Side& a, Side& b) {
  a.take_none();
  b.take_none();
  if (a.num_rounds() == b.num_rounds()) {
    for (uint32_t i = 0; i < a.num_rounds(); ++i) {
      take_round_of_both(draws, a, b, draws.below(a.num_rounds()));
    }
    return;
  }
  for (Side* side : {&a, &b}) {
    for (uint32_t i = 0; i < side->num_rounds(); ++i) {
      take_round(draws, *side, draws.below(side->num_rounds()));
    }
  }
}

// Rounds that hold samples, in their order; where rounds are paired, those in which both do.
std::pair<Rounds, Rounds> filled(std::span<const std::vector<double>> a,
                                 std::span<const std::vector<double>> b) {
  std::pair<Rounds, Rounds> out;
  const bool paired = a.size() == b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].empty() && (!paired || !b[i].empty())) out.first.push_back(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (!b[i].empty() && (!paired || !a[i].empty())) out.second.push_back(b[i]);
  }
  return out;
}

}  // namespace

std::optional<RatioEstimate> ratio_of_medians(std::span<const std::vector<double>> rounds_of_a,
                                              std::span<const std::vector<double>> rounds_of_b,
                                              unsigned num_resamples) {
  const auto [kept_a, kept_b] = filled(rounds_of_a, rounds_of_b);
  Side a(kept_a);
  Side b(kept_b);
  if (a.num_samples() < kSamplesMin || b.num_samples() < kSamplesMin) return std::nullopt;
  const double median_of_a = a.median();
  if (median_of_a <= 0) return std::nullopt;
  RatioEstimate out = {.ratio = b.median() / median_of_a,
                       .interval = {},
                       .num_a = a.num_samples(),
                       .num_b = b.num_samples()};

  const uint64_t affordable = kDrawsMax / std::max(a.num_samples(), b.num_samples());
  num_resamples = std::max(std::min(num_resamples, kResamplesMin),
                           unsigned(std::min<uint64_t>(num_resamples, affordable)));
  Draws draws;
  std::vector<double> ratios(num_resamples);
  for (double& ratio : ratios) {
    resample(draws, a, b);
    const double resampled_a = a.median();
    if (resampled_a <= 0) return std::nullopt;
    ratio = b.median() / resampled_a;
  }
  std::sort(ratios.begin(), ratios.end());
  out.interval = {.low = percentile(ratios, 0.025), .high = percentile(ratios, 0.975)};
  return out;
}

}  // namespace evener::bench
