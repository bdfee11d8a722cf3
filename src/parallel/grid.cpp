#include "parallel/grid.h"

namespace evener::parallel {

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
