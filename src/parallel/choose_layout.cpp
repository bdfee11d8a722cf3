#include "parallel/choose_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/text.h"
#include "parallel/measured_ratio.h"
#include "parallel/stage_cost.h"

namespace evener::parallel {
namespace {

Error refuse_layout(std::string where, std::string why, std::string remedy) {
  return Error{.code = Code::invalid_argument,
               .doing = "lay out the model",
               .where = std::move(where),
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

Status check_ratio(const std::vector<double>& ratio) {
  for (const double share : ratio) {
    if (std::isfinite(share) && share > 0) continue;
    return refuse_layout("--ratio", fmt::format("the share {} is not above 0", share),
                         "give each shard a share, as --ratio 5:4; leave out a device that is to "
                         "do nothing");
  }
  return {};
}

Status check_borders_rise(const std::vector<size_t>& borders) {
  for (size_t i = 0; i < borders.size(); ++i) {
    const size_t before = i == 0 ? 0 : borders[i - 1];
    if (borders[i] > before) continue;
    return refuse_layout("--split",
                         fmt::format("layer {} does not lie behind layer {}", borders[i], before),
                         "name the first layer of each further stage, rising: --split 10,20");
  }
  return {};
}

// What the request says of the number of shards or stages in two ways; 0 if in none.
Result<size_t> agreed(std::string_view option, size_t number, std::string_view list, size_t implied,
                      std::string_view what) {
  if (number == 0 || implied == 0 || number == implied) return std::max(number, implied);
  return refuse_layout(
      fmt::format("{} and {}", option, list),
      fmt::format("{} says {}, {} is for {}", option, counted_text(number, what), list, implied),
      "");
}

Status check_split(const ModelCost& model, const LayoutRequest& request, const Grid& grid) {
  const size_t num_layers = model.layers.size();
  if (grid.num_stages > num_layers) {
    return refuse_layout(
        model.name,
        fmt::format("{} are asked for, and it has {}", counted_text(grid.num_stages, "stage"),
                    counted_text(num_layers, "layer")),
        "use fewer stages (--stages), each of which needs a layer");
  }
  if (request.borders.empty() || request.borders.back() < num_layers) return {};
  return refuse_layout(
      "--split",
      fmt::format("no stage can begin at layer {}: {} has {}, counted from 0",
                  request.borders.back(), model.name, counted_text(num_layers, "layer")),
      fmt::format("use layers from 1 to {}", num_layers - 1));
}

// Devices of one memory, and what all their ranks need there.
struct MemoryUse {
  std::vector<std::string> names;
  size_t needed = 0;
  size_t free = 0;
};

std::string layers_text(size_t begin, size_t end, size_t num_layers) {
  const std::string text = end - begin == 1 ? fmt::format("layer {}", begin)
                                            : fmt::format("layers {} to {}", begin, end - 1);
  return end == num_layers ? text + " and the head" : text;
}

class Fit {
 public:
  Fit(const LayerSums& layers, const std::vector<DeviceCost>& devices, const ModelCost& model)
      : layers_(layers), devices_(devices), model_(model) {}

  // Error: out_of_memory.
  Status check(const Split& split, const std::vector<double>& shares) const {
    for (size_t device = 0; device < devices_.size(); ++device) {
      const size_t memory = devices_[device].memory;
      size_t needed = 0;
      std::vector<std::string> parts;
      for (size_t rank = 0; rank < split.device_of_rank.size(); ++rank) {
        const DeviceCost& other = devices_[split.device_of_rank[rank]];
        if (other.memory != memory) continue;
        const size_t stage = rank / shares.size();
        const double share = shares[rank % shares.size()];
        const size_t begin = stage_begin(split, stage);
        const size_t end = stage_end(split, stage, layers_.num_layers());
        const size_t bytes = needed_bytes(layers_.of(begin, end), share, layers_.scratch_bytes());
        needed += bytes;
        parts.push_back(part_text(other, begin, end, share, bytes));
      }
      if (needed > devices_[device].memory_bytes) {
        return does_not_fit(parts, needed, devices_[device].memory_bytes);
      }
    }
    return {};
  }

  // That no split fits.
  Error no_split(const Grid& grid) const {
    const PartCost all = layers_.of(0, layers_.num_layers());
    const size_t needed =
        all.weight_bytes + all.cache_bytes + grid.num_ranks() * layers_.scratch_bytes();
    size_t free = 0;
    std::vector<std::string> rooms;
    for (size_t i = 0; i < devices_.size(); ++i) {
      rooms.push_back(fmt::format("{} {}", devices_[i].name, bytes_text(devices_[i].memory_bytes)));
      const bool is_first = std::ranges::none_of(
          devices_.begin(), devices_.begin() + long(i),
          [&](const DeviceCost& other) { return other.memory == devices_[i].memory; });
      if (is_first) free += devices_[i].memory_bytes;
    }
    std::string why = fmt::format("needs {} in all, and free are {}", bytes_text(needed),
                                  fmt::to_string(fmt::join(rooms, ", ")));
    if (needed > free) {
      why += fmt::format(": {} too few", bytes_text(needed - free));
    } else {
      why += ": no split between its layers keeps to that";
    }
    return out_of_memory(model_.name, std::move(why));
  }

 private:
  std::string part_text(const DeviceCost& device, size_t begin, size_t end, double share,
                        size_t bytes) const {
    std::string what = layers_text(begin, end, layers_.num_layers());
    if (share < 1) what = fmt::format("{:.0f} % of {}", 100 * share, what);
    return fmt::format("{} with {} needs {}", device.name, what, bytes_text(bytes));
  }

  Error does_not_fit(const std::vector<std::string>& parts, size_t needed, size_t free) const {
    return out_of_memory(
        model_.name,
        fmt::format("{}{}, {} are free there: {} too few", fmt::to_string(fmt::join(parts, ", ")),
                    parts.size() == 1 ? "" : fmt::format(", together {}", bytes_text(needed)),
                    bytes_text(free), bytes_text(needed - free)));
  }

  static Error out_of_memory(std::string where, std::string why) {
    return Error{.code = Code::out_of_memory,
                 .doing = "lay out the model",
                 .where = std::move(where),
                 .why = std::move(why),
                 .remedy =
                     "give that device less (--split, --ratio), free memory, ask for a "
                     "shorter context (--ctx), or take a smaller quantisation"};
  }

  const LayerSums& layers_;
  const std::vector<DeviceCost>& devices_;
  const ModelCost& model_;
};

// Each device may use its memory alone, or as one of those who share it.
std::vector<size_t> limits_of(const std::vector<DeviceCost>& devices, bool divide) {
  std::vector<size_t> limits;
  for (const DeviceCost& device : devices) {
    const auto sharers = std::ranges::count(devices, device.memory, &DeviceCost::memory);
    limits.push_back(divide ? device.memory_bytes / size_t(sharers) : device.memory_bytes);
  }
  return limits;
}

Result<Split> chosen_split(SplitTask task, const Fit& fit, const Grid& grid) {
  task.limits = limits_of(*task.devices, false);
  const auto split = find_split(task);
  if (!split) return fit.no_split(grid);
  Status fits = fit.check(*split, task.shares);
  if (fits) return *split;
  task.limits = limits_of(*task.devices, true);
  const auto even = find_split(task);
  if (!even) return std::move(fits).error();
  return *even;
}

}  // namespace

Result<Grid> grid_of(const LayoutRequest& request, size_t num_devices) {
  RETURN_IF_ERROR(check_ratio(request.ratio));
  RETURN_IF_ERROR(check_borders_rise(request.borders));
  ASSIGN_OR_RETURN(size_t num_shards,
                   agreed("--tp", request.num_shards, "--ratio", request.ratio.size(), "shard"));
  const size_t implied_stages = request.borders.empty() ? 0 : request.borders.size() + 1;
  ASSIGN_OR_RETURN(size_t num_stages,
                   agreed("--stages", request.num_stages, "--split", implied_stages, "stage"));
  if (num_devices == 0 || num_devices > kRanksMax) {
    return refuse_layout(
        "--devices",
        fmt::format("{} are named, not 1 to {}", counted_text(num_devices, "device"), kRanksMax),
        "");
  }
  if (num_shards == 0 && num_stages == 0) num_stages = 1;
  if (num_shards == 0) num_shards = std::max<size_t>(1, num_devices / num_stages);
  if (num_stages == 0) num_stages = std::max<size_t>(1, num_devices / num_shards);
  const bool is_small = num_shards <= kRanksMax && num_stages <= kRanksMax;
  if (is_small && num_shards * num_stages == num_devices) {
    return Grid{.num_stages = num_stages, .num_shards = num_shards};
  }
  const std::string wanted =
      is_small ? counted_text(num_stages * num_shards, "device")
               : fmt::format("more than the {} devices that there may be", kRanksMax);
  return refuse_layout(
      "--devices",
      fmt::format("{} with {} each take {}, and {} named", counted_text(num_stages, "stage"),
                  counted_text(num_shards, "shard"), wanted,
                  num_devices == 1 ? "one is" : fmt::format("{} are", num_devices)),
      "name one device for each, or change --stages and --tp");
}

bool depends_on_speed(const LayoutRequest& request, const Grid& grid) {
  const bool has_shares_to_choose = request.measure_ratio && grid.num_shards > 1;
  return has_shares_to_choose || (grid.num_stages > 1 && request.borders.empty());
}

Result<ChosenLayout> choose_layout(const ModelCost& model, const std::vector<DeviceCost>& devices,
                                   const LayoutRequest& request) {
  ASSIGN_OR_RETURN(const Grid grid, grid_of(request, devices.size()));
  RETURN_IF_ERROR(check_split(model, request, grid));
  const LayerSums layers(model);
  const Fit fit(layers, devices, model);

  ChosenLayout chosen;
  chosen.layout.experts = request.experts;
  chosen.layout.ratio =
      request.ratio.empty() ? std::vector<double>(grid.num_shards, 1.0) : request.ratio;
  if (request.measure_ratio && grid.num_shards > 1) {
    chosen.layout.ratio = measured_ratio(layers, devices, grid);
  }
  const std::vector<double> shares = normalised(chosen.layout.ratio);
  Split split{.borders = request.borders, .device_of_rank = std::vector<size_t>(devices.size())};
  std::iota(split.device_of_rank.begin(), split.device_of_rank.end(), size_t{0});
  if (grid.num_stages > 1 && request.borders.empty()) {
    const bool keep_order =
        request.measure_ratio || !request.ratio.empty() || devices.size() > kDevicesMaxInSearch;
    ASSIGN_OR_RETURN(split, chosen_split({.layers = &layers,
                                          .devices = &devices,
                                          .shares = shares,
                                          .limits = {},
                                          .keep_order = keep_order},
                                         fit, grid));
  }
  RETURN_IF_ERROR(fit.check(split, shares));
  chosen.stage_seconds = stage_seconds(layers, devices, split, shares);
  chosen.layout.borders = std::move(split.borders);
  chosen.device_of_rank = std::move(split.device_of_rank);
  return chosen;
}

}  // namespace evener::parallel
