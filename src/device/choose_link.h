#pragma once

#include <memory>

#include "device/device.h"
#include "device/peer_link.h"

namespace evener::device {

// --peer: when data go from card to card without the host.
enum class PeerUse {
  automatic,  // where it was proven to be right and faster
  always,     // where it was proven to be right
  off,
};

// The link to use from one device to the other; null: data are to go through the host. Tries it
// out, and logs the choice, its reason and what was measured, in one line; nothing where they are
// not two cards. Nobody else uses the devices meanwhile.
std::shared_ptr<PeerLink> choose_link(const std::shared_ptr<Device>& from,
                                      const std::shared_ptr<Device>& to, PeerUse use);

}  // namespace evener::device
