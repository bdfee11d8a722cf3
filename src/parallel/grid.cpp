#include "parallel/grid.h"

namespace evener::parallel {

RankComms RankComms::solo() {
  return {.shards = std::make_unique<SoloComm>(), .stages = std::make_unique<SoloComm>()};
}

Status RankComms::status() const {
  RETURN_IF_ERROR(shards->status());
  return stages->status();
}

}  // namespace evener::parallel
