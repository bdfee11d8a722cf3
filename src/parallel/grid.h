#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/comm.h"
#include "parallel/heartbeats.h"

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
  std::vector<size_t> ranks_of_stage(size_t stage) const;
  std::vector<size_t> ranks_of_shard(size_t shard) const;
};

// What connects one rank of a grid to others. If one of its groups breaks, all groups of the grid
// do.
struct RankComms {
  std::unique_ptr<Comm> shards;  // those that share its layers; numbered by shard
  std::unique_ptr<Comm> stages;  // those with the same shard of other layers; numbered by stage

  std::shared_ptr<Heartbeats> heartbeats = nullptr;  // of all ranks; null for one on its own
  size_t rank = 0;                                   // in the grid

  // A rank that has the whole model.
  static RankComms solo();

  // The first of the two to be broken.
  Status status() const;

  void break_with(const Error& error);

  // A sign of life. Others that wait for this rank take one that has shown none for the deadline
  // to be stuck: work that can take long between two calls says it in between.
  void beat() const;

  // The same, and the number of the pass for messages.
  void begin_pass(uint64_t pass) const;
};

}  // namespace evener::parallel
