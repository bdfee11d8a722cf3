#pragma once

#include <cstddef>
#include <memory>

#include "parallel/comm.h"

namespace evener::parallel {

// The ranks of a model: `num_stages` groups of neighbouring layers, each cut into `num_shards`.
// Ranks are numbered stage by stage.
struct Grid {
  size_t num_stages = 1;
  size_t num_shards = 1;

  size_t num_ranks() const { return num_stages * num_shards; }
  size_t stage_of(size_t rank) const { return rank / num_shards; }
  size_t shard_of(size_t rank) const { return rank % num_shards; }
  size_t rank_at(size_t stage, size_t shard) const { return stage * num_shards + shard; }
};

// What connects one rank of a grid to others.
struct RankComms {
  std::unique_ptr<Comm> shards;  // those that share its layers; numbered by shard
  std::unique_ptr<Comm> stages;  // those with the same shard of other layers; numbered by stage

  // A rank that has the whole model.
  static RankComms solo();

  // The first of the two to be broken.
  Status status() const;
};

}  // namespace evener::parallel
