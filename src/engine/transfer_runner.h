#pragma once

#include "cache/tiers.h"
#include "cache/transfer.h"
#include "engine/ranks.h"

namespace evener::engine {

// Moves pages and recurrent states as a step's transfers say: on the ranks, and between them and
// the tiers. One thread.
class TransferRunner {
 public:
  // Both outlive it. `tiers` may be null: then nobody loads or saves.
  TransferRunner(Ranks& ranks, cache::Tiers* tiers) : ranks_(ranks), tiers_(tiers) {}

  // False: what was to be loaded is not there, or not as it was kept. Other transfers succeed.
  [[nodiscard]] bool run(const cache::Transfer& transfer);

  // Offers a page or a state to the tiers. What none of them takes, or the ranks cannot read any
  // more, is lost, which is no failure.
  void save(const cache::Transfer& transfer, cache::WhenBusy when_busy);

 private:
  bool load(const cache::Transfer& transfer);

  Ranks& ranks_;
  cache::Tiers* tiers_;
};

}  // namespace evener::engine
