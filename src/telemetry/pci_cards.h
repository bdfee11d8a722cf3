#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/file_tree.h"

namespace evener::telemetry {

// A graphics card by its address; nothing here wakes a device.
struct PciCard {
  std::string bus;   // "0000:03:00.0"
  std::string path;  // "sys/bus/pci/devices/0000:03:00.0"
};

inline constexpr uint16_t kAmd = 0x1002;
inline constexpr uint16_t kNvidia = 0x10de;

// The display functions of a vendor that `driver` holds, in order of address.
std::vector<PciCard> find_pci_cards(const host::FileTree& files, uint16_t vendor,
                                    const std::string& driver);

// Reading a sensor would wake it, or fail.
bool is_asleep(const host::FileTree& files, const PciCard& card);

// Where the link of the card's slot is read. A card with a switch of its own shows the link inside
// the card at its graphics function: the slot's is that of the outermost bridge of the card.
std::string slot_link_path(const host::FileTree& files, const PciCard& card);

}  // namespace evener::telemetry
