#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "parallel/layout.h"

namespace evener::parallel {

// What a part of a model costs, wherever it lies. Sums of parts are sums of their numbers.
struct PartCost {
  size_t weight_bytes = 0;          // that a device keeps
  size_t cache_bytes = 0;           // keys, values and states of one sequence
  double bytes_per_token = 0;       // read for one token alone; a mixture reads few of its experts
  double operations_per_token = 0;  // of a prompt

  PartCost& operator+=(const PartCost& other);
};

struct ModelCost {
  std::string name;  // for messages
  std::vector<PartCost> layers;
  PartCost last;             // behind the last layer: norm and head
  size_t scratch_bytes = 0;  // of every rank, whatever its share
};

// A device as the arithmetic sees it. Speeds are compared with each other only.
struct DeviceCost {
  std::string name;
  size_t memory = 0;        // which memory it has: devices with the same number share one
  size_t memory_bytes = 0;  // free in that memory, for all who share it together
  double bytes_per_s = 1;   // above 0; what it reads weights with
  double operations_per_s = 1;
};

// What was asked for, as engine::ParallelOptions.
struct LayoutRequest {
  size_t num_shards = 0;  // 0: not said
  size_t num_stages = 0;
  std::vector<size_t> borders = {};  // empty: not said
  std::vector<double> ratio = {};
  bool measure_ratio = false;
  ExpertCut experts = ExpertCut::automatic;
};

// How many stages and shards a request means for so many devices: what is said in numbers or by the
// length of borders and ratio; else as many shards as there are devices. Errors: invalid_argument:
// they contradict each other or the number of devices; a share that is not above 0; borders that do
// not rise.
inline constexpr size_t kRanksMax = 64;
Result<Grid> grid_of(const LayoutRequest& request, size_t num_devices);

// Whether a choice is left that speeds decide: shares, or borders between stages.
bool depends_on_speed(const LayoutRequest& request, const Grid& grid);

struct ChosenLayout {
  Layout layout;
  std::vector<size_t> device_of_rank;  // [ranks]
  std::vector<double> stage_seconds;  // what each takes for a token of an answer, with its prompt's
};

// Shares out the model. What the request leaves open is chosen so that the slowest stage takes the
// least time, within the memory of the devices:
//   borders  every split, and with up to kDevicesMaxInSearch devices and no ratio every order of
//            the devices. With one stage, a ratio or more devices they stay in the order given.
//   shares   with measure_ratio what a device computes in the same time, less where its memory ends
//            before; of several stages one ratio serves all.
// Errors: as grid_of; invalid_argument (more stages than layers, a border beyond the last layer);
// out_of_memory: which device (or who shares its memory) has how many bytes too few.
inline constexpr size_t kDevicesMaxInSearch = 8;
Result<ChosenLayout> choose_layout(const ModelCost& model, const std::vector<DeviceCost>& devices,
                                   const LayoutRequest& request);

}  // namespace evener::parallel
