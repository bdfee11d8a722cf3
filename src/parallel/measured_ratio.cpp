#include "parallel/measured_ratio.h"

#include <algorithm>
#include <cmath>

namespace evener::parallel {
namespace {

// Between measurements of one device: what is closer is alike.
constexpr double kNoise = 0.05;

// What each shard does in the same time; of several stages the mean.
std::vector<double> speeds_of(const LayerSums& layers, const std::vector<DeviceCost>& devices,
                              const Grid& grid) {
  const PartCost all = layers.of(0, layers.num_layers());
  std::vector<double> speeds(grid.num_shards);
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    const double seconds = seconds_of(all, 1, devices[rank]);
    speeds[grid.shard_of(rank)] += 1 / std::max(seconds, 1e-12);
  }
  const auto [least, most] = std::ranges::minmax(speeds);
  if (least > most * (1 - kNoise)) speeds.assign(speeds.size(), 1.0);
  return speeds;
}

// The largest share that every stage's device has memory for, if stages are about equal.
std::vector<double> shares_max(const LayerSums& layers, const std::vector<DeviceCost>& devices,
                               const Grid& grid) {
  const PartCost all = layers.of(0, layers.num_layers());
  const double stage_bytes =
      std::max(1.0, double(all.weight_bytes + all.cache_bytes) / double(grid.num_stages));
  std::vector<double> most(grid.num_shards, 1.0);
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    const auto sharers = std::ranges::count(devices, devices[rank].memory, &DeviceCost::memory);
    const double room = double(devices[rank].memory_bytes) / double(sharers);
    const double share = (room - double(layers.scratch_bytes())) / stage_bytes;
    double& limit = most[grid.shard_of(rank)];
    limit = std::min(limit, std::max(share, 0.0));
  }
  return most;
}

// In proportion to speeds, but none above its most.
std::vector<double> limited_shares(const std::vector<double>& speeds,
                                   const std::vector<double>& most) {
  std::vector<double> shares(speeds.size());
  std::vector<bool> is_full(speeds.size());
  for (size_t turn = 0; turn < speeds.size(); ++turn) {
    double left = 1;
    double speed = 0;
    for (size_t i = 0; i < speeds.size(); ++i) {
      if (is_full[i]) left -= shares[i];
      if (!is_full[i]) speed += speeds[i];
    }
    bool changed = false;
    for (size_t i = 0; i < speeds.size(); ++i) {
      if (is_full[i]) continue;
      shares[i] = left * speeds[i] / speed;
      if (shares[i] <= most[i]) continue;
      shares[i] = most[i];
      is_full[i] = true;
      changed = true;
    }
    if (!changed) break;
  }
  return shares;
}

}  // namespace

std::vector<double> measured_ratio(const LayerSums& layers, const std::vector<DeviceCost>& devices,
                                   const Grid& grid) {
  const std::vector<double> speeds = speeds_of(layers, devices, grid);
  std::vector<double> most = shares_max(layers, devices, grid);
  // Too little memory in all is for others to say, with the numbers.
  double sum = 0;
  for (const double limit : most) sum += limit;
  if (sum < 1) most.assign(most.size(), 1.0);
  std::vector<double> ratio = limited_shares(speeds, most);
  for (size_t i = 0; i < ratio.size(); ++i) {
    const double rounded = std::round(100 * ratio[i]);
    // A whole number of hundredths, but not more than there is room for.
    ratio[i] = std::max(1.0, rounded > 100 * most[i] ? std::floor(100 * most[i]) : rounded);
  }
  return ratio;
}

}  // namespace evener::parallel
