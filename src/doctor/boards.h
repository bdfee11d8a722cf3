#pragma once

#include <string_view>

namespace evener::doctor {

// Is this board said to have a Resizable BAR option in its firmware? The list holds boards that are
// not expected to have one; revisions differ. pci-p2p.md, section 6.
bool has_rebar_option(std::string_view board);

}  // namespace evener::doctor
