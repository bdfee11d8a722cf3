#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/release.h"
#include "host/facts.h"

// The kernel's list of host bridges through which it lets peers talk (drivers/pci/p2pdma.c), by
// the release that brought each entry. Source: reference/host/pci-p2p.md, 1.3.

namespace evener::doctor {

struct ListEntry {
  uint16_t vendor = 0;
  uint16_t first_device = 0;
  uint16_t last_device = 0;
  bool same_bridge = false;  // holds only if both cards are below one host bridge
  Release since;
  std::string_view what;
};

// The entry for a device in any release known here; null: there is none.
const ListEntry* find_entry(host::PciId id);

// Was forced onto the list by somebody and gave wrong bytes. Empty: not known here.
std::string_view known_corruption(host::PciId id);

// What the kernel finds when it looks up a root bus.
struct ListAnswer {
  enum class Kind {
    unknown,       // which device or which kernel, see `why`
    matched,       // by `entry`
    unmatched,     // not in this kernel's list
    lookup_fails,  // the bus's first device is not one that the kernel looks up
  };
  Kind kind = Kind::unknown;
  const ListEntry* entry = nullptr;  // of this or, for unmatched, of a later release
  bool by_patch = false;
  bool same_bridge = false;
  std::string why;
};

ListAnswer ask_allow_list(const host::RootBus& root, const host::Kernel& kernel);

// A patch of this kernel that adds to the list, and the devices it names.
struct ListPatch {
  std::string text;
  std::vector<host::PciId> ids;
};
std::vector<ListPatch> list_patches(const host::Kernel& kernel);

}  // namespace evener::doctor
