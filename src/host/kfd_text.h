#pragma once

#include <string_view>
#include <vector>

#include "host/seen.h"

namespace evener::host {

// One direction of peer access, by address: names of cards come later.
struct PeerSeen {
  PciAddress from;
  PciAddress to;
  bool allowed = false;
  std::string reason;
};

// kfd.tsv: the topology of the compute driver, "NODE/FILE<TAB>KEY VALUE".
struct Kfd {
  Sightings cards;                // with gfx, VRAM and in_kfd
  std::vector<PeerSeen> granted;  // what `p2p_links` has: the driver's own verdict
};
Kfd read_kfd(std::string_view text);

// 110000 is "gfx1100", 90010 "gfx90a".
std::string gfx_name(uint64_t target_version);

}  // namespace evener::host
