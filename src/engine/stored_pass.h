#pragma once

#include <cstdint>
#include <vector>

#include "device/batch.h"
#include "engine/rank_pass.h"

namespace evener::engine {

// A pass with everything it points to, for ranks that execute it later, and the room for its
// result. Keeps its memory from pass to pass.
class StoredPass {
 public:
  // Nobody reads the one before any more.
  void store(const RankPass& pass, uint64_t number);

  // Valid until the next store(). Many threads may read it.
  RankPass pass() const;
  uint64_t number() const { return number_; }

  // Written by the one rank that has the logits.
  PassResult result;

 private:
  uint64_t number_ = 0;
  Wanted wanted_ = Wanted::logits;
  std::vector<int32_t> tokens_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> logit_rows_;
  std::vector<int32_t> pages_;  // of all slices, one behind the other
  std::vector<device::Slice> slices_;
};

}  // namespace evener::engine
