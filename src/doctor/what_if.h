#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "host/facts.h"

namespace evener::doctor {

// The facts as they would be after some changes, separated by commas, made from left to right:
//
//   bios.above4g=on|off         a host window above 4 GiB, or none
//   bios.mmioh_base=ADDRESS     where these windows start: 0x8000000000, 4T
//   bios.mmioh_size=SIZE        how long each is: 256G
//   bios.rebar=on               the firmware gives each VRAM BAR the size it needs
//   kernel=RELEASE              another kernel, without patches: 7.4, 6.17.3
//   iommu=off|pt|translated
//   move=CARD:PLACE             CARD: a name or an address; PLACE: a port, or a slot by its label
//   acs=off                     no port redirects
//   realloc=on                  pci=realloc: windows sized for the BARs of this moment
//   headroom=on                 the series that reserves window room for Resizable BARs
//
// What the change would do and what is only hoped of it are different things: BARs grow as far as
// the host's windows, as known, have room. What was observed before a change is not true after it
// and is dropped.
//
// Errors: invalid_argument (an edit that is none of these), not_found (no such card, port or slot).
// Judge: tests/doctor/what_if_test.cpp.
Result<host::HostFacts> what_if(host::HostFacts facts, std::string_view edits);

}  // namespace evener::doctor
