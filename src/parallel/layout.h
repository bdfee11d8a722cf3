#pragma once

#include <cstddef>
#include <vector>

#include "parallel/grid.h"

namespace evener::parallel {

// How the experts of a layer are shared out among the ranks that have the layer.
enum class ExpertCut {
  automatic,  // inside, unless blocks of the weights are too coarse to share out evenly
  inside,     // every rank has a part of each expert
  whole,      // every rank has some of the experts
};

// How a model is cut over ranks: layers into stages, each stage into shards.
struct Layout {
  std::vector<size_t> borders = {};   // first layer of every stage but the first, rising from 1
  std::vector<double> ratio = {1.0};  // [shards] of what they get, each above 0
  ExpertCut experts = ExpertCut::automatic;

  Grid grid() const { return {.num_stages = borders.size() + 1, .num_shards = ratio.size()}; }
};

}  // namespace evener::parallel
