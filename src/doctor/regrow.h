#pragma once

#include <cstdint>

#include "host/facts.h"

// What happens to BARs and windows when something about a machine changes: the part of a what-if
// that follows from the sums of window.h. Windows of host bridges that are known are never
// exceeded; of unknown ones it is hoped that they suffice.

namespace evener::doctor {

// Whose BARs grow to what their drivers want, with the windows above them.
enum class Growth {
  lone_cards,   // those alone below a root port: their driver can do it
  all,          // all of them, with gaps for alignment: firmware, or a kernel that makes room
  all_demoted,  // the same with small BARs moved out of the way: the headroom series
};
void grow_bars(host::HostFacts& facts, Growth growth);

// pci=realloc: windows for the BARs as they are. Kernel 7.0.x leaves out the gaps, and cards behind
// the first of a switch lose their BAR.
void size_windows_for_present_bars(host::HostFacts& facts);

// BARs that have no address become small ones that the kernel can place.
void restore_lost_bars(host::HostFacts& facts);

// Lays the VRAM BARs out from the base of each root bus's window above 4 GiB.
void place_bars(host::HostFacts& facts);

}  // namespace evener::doctor
