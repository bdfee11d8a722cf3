#pragma once

#include <cstdint>
#include <span>

#include "host/seen.h"

namespace evener::host {

// Decodes a function's configuration space into `seen`: identity, class, BARs (addresses and kinds;
// sizes only where Resizable BAR gives them), bridge windows and buses, PCI Express type and link,
// atomics, power state, ACS and Resizable BAR.
//
// `bytes` may have any length: 64 without root, 256 with old access methods, 4096 in full. What
// lies behind its end stays unknown. Loops in the capability lists end.
// Source: PCI Express Base Specification, pci-p2p.md 3.1. Judge: tests/host/config_space_test.cpp.
void decode_config_space(std::span<const uint8_t> bytes, Seen& seen);

// GT/s of a link speed code; empty for codes that no standard has.
std::optional<double> link_speed(unsigned code);

}  // namespace evener::host
