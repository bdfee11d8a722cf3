#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kfd_text.h"
#include "host/seen.h"

// What vendors' tools print: nvidia-smi topo, rocm-smi, rocm_bandwidth_test, CUDA's
// p2pBandwidthLatencyTest. They are recognised by what they print, not by a file's name.

namespace evener::host {

struct RateSeen {
  std::string what;  // "h2d_gbs", "d2h_gbs", "peer_copy_gbs"
  PciAddress of;
  std::optional<PciAddress> to;
  double gb_per_s = 0;
};

struct TopologyWord {  // of `nvidia-smi topo -m`: "PHB"
  PciAddress a;
  PciAddress b;
  std::string word;
};

struct Tools {
  std::vector<PeerSeen> peers;
  std::vector<RateSeen> rates;
  std::vector<TopologyWord> topology;
  std::vector<std::string> unclear;  // sentences about tables that fit no cards
};

// The tools number cards in order of address, each vendor's own.
struct CardOrder {
  std::vector<PciAddress> amd;
  std::vector<PciAddress> nvidia;
};
void read_tools(std::string_view text, const CardOrder& order, Tools& out);

// Rows of nvidia-smi --query-gpu=pci.bus_id,name,memory.total,power.limit as CSV without units.
void read_nvidia_query(std::string_view text, Sightings& out);

}  // namespace evener::host
