#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "parallel/choose_layout.h"

namespace evener::parallel {

// Sums over neighbouring layers, in constant time.
class LayerSums {
 public:
  explicit LayerSums(const ModelCost& model);

  size_t num_layers() const { return sums_.size() - 1; }
  // Layers [begin, end), with the head if they are the last.
  PartCost of(size_t begin, size_t end) const;
  size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  std::vector<PartCost> sums_;  // of the first n layers
  PartCost last_;
  size_t scratch_bytes_ = 0;
};

// Seconds that a device takes for a share of a part: one token of an answer, and the prompt's that
// go with it.
double seconds_of(const PartCost& part, double share, const DeviceCost& device);

// Bytes that a rank with a share of a part needs.
size_t needed_bytes(const PartCost& part, double share, size_t scratch_bytes);

// Shares that sum to 1.
std::vector<double> normalised(std::vector<double> ratio);

// Borders and an order of the devices for given shares [shards], in whose slowest stage a rank
// takes the least time. `limits` [devices] are the most bytes that a rank may need there. Nothing
// if no split keeps them.
struct Split {
  std::vector<size_t> borders;
  std::vector<size_t> device_of_rank;
};
struct SplitTask {
  const LayerSums* layers = nullptr;
  const std::vector<DeviceCost>* devices = nullptr;
  std::vector<double> shares;  // sum 1
  std::vector<size_t> limits;
  bool keep_order = false;
};
std::optional<Split> find_split(const SplitTask& task);

// seconds_of the slowest rank of each stage.
std::vector<double> stage_seconds(const LayerSums& layers, const std::vector<DeviceCost>& devices,
                                  const Split& split, const std::vector<double>& shares);

// Where a stage's layers begin and end.
size_t stage_begin(const Split& split, size_t stage);
size_t stage_end(const Split& split, size_t stage, size_t num_layers);

}  // namespace evener::parallel
