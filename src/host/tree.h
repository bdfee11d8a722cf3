#pragma once

#include "host/host_windows.h"
#include "host/seen.h"

namespace evener::host {

// What is known of the machine's buses beside its functions.
struct BusEvidence {
  WindowsByBus iomem;
  WindowsByBus log;
  bool is_whole = false;  // no function is left out: what is first on a bus is really first
};

// Says for each function what it hangs from and for each bridge what kind of port it is, where the
// texts did not, and puts the root buses into `facts`.
void connect(Sightings& functions, const BusEvidence& evidence, HostFacts& facts);

}  // namespace evener::host
