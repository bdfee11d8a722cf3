#pragma once

#include <span>
#include <string_view>

#include "doctor/report.h"

namespace evener::doctor {

// Every fix that a rule may offer, F00 to F32 of reference/host/pci-p2p.md, section 7.1, by id.
std::span<const Fix> all_fixes();
const Fix* find_fix(std::string_view id);  // null: there is none

}  // namespace evener::doctor
