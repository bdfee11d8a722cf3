#include "tune/trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace evener::tune {
namespace {

constexpr double kUnlike = 1.05;     // speeds further apart than that are no accident
constexpr double kRatioStep = 1.25;  // 5:4
constexpr size_t kBorderShare = 16;  // a border moves by this part of the layers
constexpr size_t kChunkMin = 64;

const Speeds* alone(std::span<const Outcome> outcomes, const std::string& device) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.trial.devices.size() == 1 && outcome.trial.devices.front() == device) {
      return outcome.speeds ? &*outcome.speeds : nullptr;
    }
  }
  return nullptr;
}

// By what each device reached alone; 1 for one that was not measured.
std::vector<double> speeds_alone(const std::vector<std::string>& devices,
                                 std::span<const Outcome> outcomes, double Speeds::* kind) {
  std::vector<double> speeds;
  for (const std::string& device : devices) {
    const Speeds* const found = alone(outcomes, device);
    speeds.push_back(found != nullptr ? found->*kind : 1);
  }
  return speeds;
}

bool are_unlike(const std::vector<double>& speeds) {
  return std::ranges::max(speeds) > kUnlike * std::ranges::min(speeds);
}

// In tenths of the slowest: 1.3:1 reads better than 28.73:22.11, and is as good.
std::vector<double> rounded_ratio(std::vector<double> speeds) {
  const double slowest = std::ranges::min(speeds);
  for (double& speed : speeds) speed = std::round(10 * speed / slowest) / 10;
  return speeds;
}

void add(std::vector<Trial>& trials, Trial trial) {
  if (std::ranges::find(trials, trial) == trials.end()) trials.push_back(std::move(trial));
}

std::vector<Trial> one_device_trials(const SearchSpace& space) {
  std::vector<Trial> trials;
  for (const std::string& device : space.devices) {
    trials.push_back({.devices = {device}, .chunk = space.chunk});
  }
  return trials;
}

std::vector<Trial> shard_trials(const SearchSpace& space, std::span<const Outcome> outcomes) {
  std::vector<Trial> trials;
  const size_t count = space.devices.size();
  const Trial even{.devices = space.devices, .num_shards = count, .chunk = space.chunk};
  add(trials, even);
  for (const auto kind : {&Speeds::decode, &Speeds::prefill}) {
    const std::vector<double> speeds = speeds_alone(space.devices, outcomes, kind);
    if (!are_unlike(speeds)) continue;
    Trial uneven = even;
    uneven.ratio = rounded_ratio(speeds);
    add(trials, uneven);
  }
  if (count != 2) return trials;
  const std::vector<double> centre =
      trials.back().ratio.empty() ? std::vector<double>{1, 1} : trials.back().ratio;
  for (const double step : {kRatioStep, 1 / kRatioStep}) {
    Trial beside = even;
    beside.ratio = rounded_ratio({centre[0] * step, centre[1]});
    add(trials, beside);
  }
  return trials;
}

// Layers in proportion to speed, each stage one at least.
std::vector<size_t> borders_by(const std::vector<double>& speeds, size_t num_layers) {
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<size_t> borders;
  double sum = 0;
  for (size_t i = 0; i + 1 < speeds.size(); ++i) {
    sum += speeds[i];
    const auto border =
        static_cast<size_t>(std::lround(sum / all * static_cast<double>(num_layers)));
    const size_t least = borders.empty() ? 1 : borders.back() + 1;
    const size_t most = num_layers - (speeds.size() - 1 - i);
    borders.push_back(std::clamp(border, least, most));
  }
  return borders;
}

void add_stages(std::vector<Trial>& trials, const SearchSpace& space,
                const std::vector<std::string>& order, std::span<const Outcome> outcomes) {
  Trial trial{.devices = order, .num_stages = order.size(), .chunk = space.chunk};
  trial.borders = borders_by(speeds_alone(order, outcomes, &Speeds::prefill), space.num_layers);
  add(trials, trial);
  if (order.size() != 2) return;
  const size_t step = std::max<size_t>(space.num_layers / kBorderShare, 1);
  const size_t border = trial.borders.front();
  // The last stage has the head too, so first the step that gives it less.
  if (border + step < space.num_layers) {
    trial.borders = {border + step};
    add(trials, trial);
  }
  if (border > step) {
    trial.borders = {border - step};
    add(trials, trial);
  }
}

std::vector<Trial> stage_trials(const SearchSpace& space, std::span<const Outcome> outcomes) {
  std::vector<Trial> trials;
  const size_t count = space.devices.size();
  if (count > space.num_layers) return trials;
  add_stages(trials, space, space.devices, outcomes);
  if (are_unlike(speeds_alone(space.devices, outcomes, &Speeds::prefill))) {
    std::vector<std::string> reversed(space.devices.rbegin(), space.devices.rend());
    add_stages(trials, space, reversed, outcomes);
  }
  if (count == 4) {
    trials.push_back({.devices = space.devices,
                      .num_shards = 2,
                      .num_stages = 2,
                      .borders = {space.num_layers / 2},
                      .chunk = space.chunk});
  }
  return trials;
}

std::vector<Trial> chunk_trials(const SearchSpace& space, std::span<const Outcome> outcomes) {
  const Outcome* best = nullptr;
  for (const Outcome& outcome : outcomes) {
    if (outcome.trial.num_stages < 2 || !outcome.speeds) continue;
    if (best == nullptr || outcome.speeds->prefill > best->speeds->prefill) best = &outcome;
  }
  std::vector<Trial> trials;
  if (best == nullptr) return trials;
  for (const size_t part : {2, 4}) {
    if (space.chunk / part < kChunkMin) continue;
    Trial trial = best->trial;
    trial.chunk = space.chunk / part;
    trials.push_back(std::move(trial));
  }
  return trials;
}

// The outcome that is best by `figure`, which is to be large.
std::optional<size_t> best_of(std::span<const Outcome> outcomes,
                              const std::function<double(const Outcome&)>& figure) {
  std::optional<size_t> best;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].speeds) continue;
    if (!best || figure(outcomes[i]) > figure(outcomes[*best])) best = i;
  }
  return best;
}

}  // namespace

std::string to_string(const Trial& trial) {
  std::string text;
  if (trial.num_shards * trial.num_stages == 1) text = "one device";
  if (trial.num_shards > 1) {
    text = fmt::format("tp {}", trial.num_shards);
    if (!trial.ratio.empty()) text += fmt::format(", {}", fmt::join(trial.ratio, ":"));
  }
  if (trial.num_stages > 1) {
    text += fmt::format("{}{} stages", text.empty() ? "" : ", ", trial.num_stages);
    if (!trial.borders.empty()) text += fmt::format(", split {}", fmt::join(trial.borders, ","));
    text += fmt::format(", chunk {}", trial.chunk);
  }
  return text;
}

std::vector<Trial> trials_of(Wave wave, const SearchSpace& space,
                             std::span<const Outcome> outcomes) {
  if (wave == Wave::one) return one_device_trials(space);
  if (space.devices.size() < 2) return {};
  switch (wave) {
    case Wave::shards:
      return shard_trials(space, outcomes);
    case Wave::stages:
      return stage_trials(space, outcomes);
    default:
      return chunk_trials(space, outcomes);
  }
}

Winners winners_of(std::span<const Outcome> outcomes, const Request& request) {
  const auto fastest = [&](const Outcome& outcome) { return -request.seconds(*outcome.speeds); };
  const auto by = [&](double Speeds::* kind) {
    return best_of(outcomes, [kind](const Outcome& outcome) { return (*outcome.speeds).*kind; });
  };
  Winners winners{.prefill = by(&Speeds::prefill),
                  .decode = by(&Speeds::decode),
                  .decode_streams = by(&Speeds::decode_streams),
                  .request = best_of(outcomes, fastest),
                  .one_device = {}};
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].trial.devices.size() != 1 || !outcomes[i].speeds) continue;
    if (!winners.one_device || fastest(outcomes[i]) > fastest(outcomes[*winners.one_device])) {
      winners.one_device = i;
    }
  }
  return winners;
}

}  // namespace evener::tune
