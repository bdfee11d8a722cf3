#include "sched/cost_model.h"

#include <algorithm>
#include <cmath>

namespace evener::sched {
namespace {

constexpr double kMemory = 0.95;      // weight that a measurement keeps with each newer one
constexpr double kInertia = 1e-3;     // of the coefficients, in measurements
constexpr double kErrorMemory = 0.9;  // of the usual error
// Usual errors that predict_high() allows for. A prompt takes dozens of steps and its largest gap
// is what counts: of normal errors two usual ones are overrun by one in twenty, three by one in a
// hundred.
constexpr double kErrorMargin = 3.0;
constexpr double kSurprise = 2.0;  // times the prediction: beyond it a measurement is pulled in
constexpr size_t kNumSurprisesMax = 2;  // in a row, put down to chance
constexpr double kDistrust = 0.1;       // weight that the past keeps after more of them
constexpr size_t kNumUnjudged = 8;      // measurements before any can be called a surprise
constexpr int kNumSweeps = 30;          // enough from a warm start: see cost_model_test.cpp
constexpr double kPartMin = 0.1;      // of a step's time, that is put down to terms not met before
constexpr double kSecondsMin = 1e-6;  // no step is faster

double dot(const CostModel::Terms& a, const CostModel::Terms& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void StepWork::add(const Slice& slice) {
  const auto num_rows = static_cast<double>(slice.num_tokens);
  const auto first = static_cast<double>(slice.first_position);
  const double positions = num_rows * first + num_rows * (num_rows + 1) / 2;
  if (slice.kind == Slice::Kind::prompt) {
    prompt_tokens += slice.num_tokens;
    prompt_positions += positions;
  } else {
    decode_rows += slice.num_tokens;
    decode_positions += positions;
  }
}

CostModel::CostModel(const Prior& prior) : largest_chunk_(prior.chunk_min) {
  const double token = seconds(prior.max_gap) / static_cast<double>(prior.chunk_min);
  // A row of decode is a token; attention to 10,000 positions is as much work as the row itself.
  unit_ = {token, token, token, token / 1e4, token, token / 1e4, token};
  scale_.fill(1);
}

CostModel::Terms CostModel::terms(const StepWork& work) const {
  return {unit_[0],
          unit_[1] * (work.prompt_tokens > 0 ? 1 : 0),
          unit_[2] * static_cast<double>(work.prompt_tokens),
          unit_[3] * work.prompt_positions,
          unit_[4] * static_cast<double>(work.decode_rows),
          unit_[5] * work.decode_positions,
          unit_[6] * work.moved_pages};
}

CostModel::Terms CostModel::coefficients() const {
  Terms result = unit_;
  for (size_t i = 0; i < kNumTerms; ++i) result[i] *= scale_[i];
  return result;
}

Duration CostModel::predict(const StepWork& work) const {
  return from_seconds(dot(terms(work), scale_));
}

Duration CostModel::predict_high(const StepWork& work) const {
  return from_seconds(dot(terms(work), scale_) * (1 + kErrorMargin * error_));
}

void CostModel::measure(const StepWork& work, Duration took) {
  const Terms x = terms(work);
  calibrate(x, std::max(seconds(took), kSecondsMin));
  const double predicted = std::max(dot(x, scale_), kSecondsMin);
  const double y = judge(work, predicted, std::max(seconds(took), kSecondsMin));
  // Errors relative to what was predicted: relative to what was measured, a machine that has become
  // slow would be believed last.
  const double weight = 1 / (predicted * predicted);
  for (size_t i = 0; i < kNumTerms; ++i) {
    for (size_t j = 0; j < kNumTerms; ++j) {
      products_[i][j] = kMemory * products_[i][j] + weight * x[i] * x[j];
    }
    targets_[i] = kMemory * targets_[i] + weight * x[i] * y;
  }
  largest_chunk_ = std::max(largest_chunk_, work.prompt_tokens);
  ++num_measured_;
  solve();
}

// The first step of a kind says how fast the machine is, not what its time consists of: what is
// not known yet keeps the proportions that it was given. Least squares would put it all down to
// the largest term.
void CostModel::calibrate(const Terms& x, double measured) {
  double known = 0;
  double unknown = 0;
  for (size_t i = 0; i < kNumTerms; ++i) (is_met_[i] ? known : unknown) += x[i] * scale_[i];
  if (unknown == 0 || x[kMovedPages] > 0) return;
  const double part = std::max(measured - known, kPartMin * measured);
  for (size_t i = 0; i < kNumTerms; ++i) {
    if (is_met_[i] || x[i] == 0) continue;
    scale_[i] *= part / unknown;
    is_met_[i] = true;
  }
}

// What is to be believed of a measurement. One surprise is pulled in; several in a row mean that
// the past says little about this machine any more.
double CostModel::judge(const StepWork& work, double predicted, double measured) {
  if (num_measured_ < kNumUnjudged) return measured;
  const double believed = std::clamp(measured, predicted / kSurprise, predicted * kSurprise);
  const bool has_prompt = work.prompt_tokens > 0;
  if (has_prompt) {
    const double error = std::abs(believed / predicted - 1);
    error_ = kErrorMemory * error_ + (1 - kErrorMemory) * error;
  }
  size_t& num_surprises = num_surprises_[has_prompt ? 1 : 0];
  num_surprises = believed == measured ? 0 : num_surprises + 1;
  if (num_surprises > kNumSurprisesMax) distrust_past();
  return believed;
}

void CostModel::distrust_past() {
  for (Terms& row : products_) {
    for (double& product : row) product *= kDistrust;
  }
  for (double& target : targets_) target *= kDistrust;
}

// Minimises  sum of weight (x.scale - y)^2 + kInertia |scale - scale before|^2  over scale >=
// 0, one coefficient after the other.
void CostModel::solve() {
  const Terms before = scale_;
  for (int sweep = 0; sweep < kNumSweeps; ++sweep) {
    for (size_t i = 0; i < kNumTerms; ++i) {
      const double others = dot(products_[i], scale_) - products_[i][i] * scale_[i];
      const double best =
          (targets_[i] - others + kInertia * before[i]) / (products_[i][i] + kInertia);
      scale_[i] = std::max(best, 0.0);
    }
  }
}

size_t CostModel::largest_safe_chunk(const StepWork& work, const Slice& prompt,
                                     Duration limit) const {
  size_t fits = 0;
  size_t too_many = std::min(prompt.num_tokens, 2 * largest_chunk_) + 1;
  while (fits + 1 < too_many) {
    Slice chunk = prompt;
    chunk.num_tokens = fits + (too_many - fits) / 2;
    StepWork with_chunk = work;
    with_chunk.add(chunk);
    (predict_high(with_chunk) <= limit ? fits : too_many) = chunk.num_tokens;
  }
  return fits;
}

size_t CostModel::worthwhile_chunk(const StepWork& work, const Slice& prompt) const {
  Slice token = prompt;
  token.num_tokens = 1;
  StepWork least = work;
  least.add(token);
  return std::max<size_t>(1, largest_safe_chunk(work, prompt, 2 * predict_high(least)));
}

// m steps of n = T/m tokens take (m + depth - 1) (f + t n) / depth, f being what a step costs and t
// what a token does: least where n^2 = T f / ((depth - 1) t).
size_t CostModel::best_pipe_chunk(size_t num_tokens, size_t depth) const {
  const Terms cost = coefficients();
  const double step = cost[0] + cost[1];
  const double middle = static_cast<double>(num_tokens) / 2;  // positions that a row attends to
  const double token = std::max(cost[2] + cost[3] * middle, kSecondsMin * kSecondsMin);
  const double best =
      std::sqrt(static_cast<double>(num_tokens) * step / (static_cast<double>(depth - 1) * token));
  return static_cast<size_t>(std::clamp(best, 1.0, static_cast<double>(num_tokens + 1)));
}

}  // namespace evener::sched
