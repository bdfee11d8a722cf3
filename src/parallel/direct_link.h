#pragma once

#include <cstddef>
#include <memory>

#include "device/peer_link.h"

namespace evener::parallel {

// A way from the device of one rank to that of another, proven to be right. What is sent from stage
// to stage takes it if it fits into a slot.
struct DirectLink {
  size_t from = 0;  // in the grid
  size_t to = 0;
  std::shared_ptr<device::PeerLink> link;
};

}  // namespace evener::parallel
