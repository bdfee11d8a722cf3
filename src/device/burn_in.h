#pragma once

#include "base/error.h"
#include "device/device.h"
#include "device/peer_link.h"

namespace evener::device {

// Fills every slot of the link with several patterns of several sizes, up to all of it, and
// compares every word that the receiver reads with what the sender was given. Nobody else uses the
// devices meanwhile. Errors: unavailable: a word was another, or a device has failed;
// out_of_memory.
Status burn_in(PeerLink& link, Device& from, Device& to);

// How fast so many bytes get from one device's memory into the other's, one way.
Result<double> direct_bytes_per_s(PeerLink& link, Device& from, Device& to);
Result<double> host_bytes_per_s(Device& from, Device& to, size_t size_bytes);

}  // namespace evener::device
