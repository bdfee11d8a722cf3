#pragma once

#include "doctor/case.h"

namespace evener::doctor {

// The ports between two cards, as the kernel walks them. pci-p2p.md, 1.1.
Path path_between(const Card& a, const Card& b);

// Where requests pass, as far as that is known before any rule has spoken.
Route route_of(const Case& c, const Pair& pair);

// "request redirect, completion redirect": the bits of an ACS control register that are on.
std::string acs_text(uint16_t control);

}  // namespace evener::doctor
