#pragma once

#include <string_view>

#include "doctor/case.h"

namespace evener::doctor {

// Must the VRAM BAR of this card cover all its VRAM before peers can reach it? So it is for amdgpu,
// and for NVIDIA's module where VRAM is mapped through BAR 1.
bool needs_whole_bar(const Case& c, const Card& card);

// The rule that says why the card's BAR is smaller than its VRAM or lost, "R31" to "R37"; empty: it
// is neither, or the facts do not say why.
std::string_view cause_of_small_bar(const Case& c, const Card& card);

// The port whose window is too short because of what else lies in it; null: none that is known.
const Bridge* pinned_bridge(const Case& c, const Card& card);

// What the card's BAR cannot be moved past: something that is no card of ours, in the window of a
// bridge above it.
const host::Function* pin_of(const Case& c, const Card& card);

// Lines of the log about a window or BAR for which there was no room.
bool logs_no_space(const Case& c);

}  // namespace evener::doctor
