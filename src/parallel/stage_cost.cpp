#include "parallel/stage_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evener::parallel {
namespace {

// What people and programs send is longer than what they get: tokens of a prompt that are read for
// each one of an answer.
constexpr double kPromptTokensPerAnswerToken = 4;

}  // namespace

PartCost& PartCost::operator+=(const PartCost& other) {
  weight_bytes += other.weight_bytes;
  cache_bytes += other.cache_bytes;
  bytes_per_token += other.bytes_per_token;
  operations_per_token += other.operations_per_token;
  return *this;
}

LayerSums::LayerSums(const ModelCost& model)
    : sums_(1), last_(model.last), scratch_bytes_(model.scratch_bytes) {
  for (const PartCost& layer : model.layers) {
    PartCost sum = sums_.back();
    sums_.push_back(sum += layer);
  }
}

PartCost LayerSums::of(size_t begin, size_t end) const {
  const PartCost& from = sums_[begin];
  const PartCost& to = sums_[end];
  PartCost part = {.weight_bytes = to.weight_bytes - from.weight_bytes,
                   .cache_bytes = to.cache_bytes - from.cache_bytes,
                   .bytes_per_token = to.bytes_per_token - from.bytes_per_token,
                   .operations_per_token = to.operations_per_token - from.operations_per_token};
  if (end == num_layers()) part += last_;
  return part;
}

double seconds_of(const PartCost& part, double share, const DeviceCost& device) {
  return share *
         (part.bytes_per_token / device.bytes_per_s +
          kPromptTokensPerAnswerToken * part.operations_per_token / device.operations_per_s);
}

size_t needed_bytes(const PartCost& part, double share, size_t scratch_bytes) {
  const auto all = static_cast<double>(part.weight_bytes + part.cache_bytes);
  return scratch_bytes + static_cast<size_t>(std::ceil(share * all));
}

std::vector<double> normalised(std::vector<double> ratio) {
  const double sum = std::accumulate(ratio.begin(), ratio.end(), 0.0);
  for (double& share : ratio) share /= sum;
  return ratio;
}

size_t stage_begin(const Split& split, size_t stage) {
  return stage == 0 ? 0 : split.borders[stage - 1];
}

size_t stage_end(const Split& split, size_t stage, size_t num_layers) {
  return stage == split.borders.size() ? num_layers : split.borders[stage];
}

std::vector<double> stage_seconds(const LayerSums& layers, const std::vector<DeviceCost>& devices,
                                  const Split& split, const std::vector<double>& shares) {
  std::vector<double> seconds(split.borders.size() + 1);
  for (size_t rank = 0; rank < split.device_of_rank.size(); ++rank) {
    const size_t stage = rank / shares.size();
    const PartCost part =
        layers.of(stage_begin(split, stage), stage_end(split, stage, layers.num_layers()));
    const DeviceCost& device = devices[split.device_of_rank[rank]];
    seconds[stage] =
        std::max(seconds[stage], seconds_of(part, shares[rank % shares.size()], device));
  }
  return seconds;
}

}  // namespace evener::parallel
