#include "parallel/grid.h"

namespace evener::parallel {

std::vector<size_t> Grid::ranks_of_stage(size_t stage) const {
  std::vector<size_t> ranks;
  for (size_t shard = 0; shard < num_shards; ++shard) ranks.push_back(rank_at(stage, shard));
  return ranks;
}

std::vector<size_t> Grid::ranks_of_shard(size_t shard) const {
  std::vector<size_t> ranks;
  for (size_t stage = 0; stage < num_stages; ++stage) ranks.push_back(rank_at(stage, shard));
  return ranks;
}

RankComms RankComms::solo() {
  return {.shards = std::make_unique<SoloComm>(), .stages = std::make_unique<SoloComm>()};
}

Status RankComms::status() const {
  RETURN_IF_ERROR(shards->status());
  return stages->status();
}

void RankComms::break_with(const Error& error) {
  shards->break_with(error);
  stages->break_with(error);
}

void RankComms::beat() const {
  if (heartbeats) heartbeats->beat(rank);
}

void RankComms::begin_pass(uint64_t pass) const {
  if (heartbeats) heartbeats->begin_pass(rank, pass);
}

}  // namespace evener::parallel
