#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/text_lines.h"

namespace evener::host {

// The address ranges that firmware gave each root bus, by the bus's name. `is_whole` is set where
// all of them are there, so that what is not among them does not exist.
struct HostWindows {
  std::vector<AddressRange> ranges;
  bool is_whole = false;
};
using WindowsByBus = std::map<std::string, HostWindows>;

// /proc/iomem. `is_hidden`: all addresses are 0, as the kernel shows them without root.
struct Iomem {
  WindowsByBus buses;
  bool is_hidden = false;
};
Iomem read_iomem(std::string_view text);
bool is_iomem_line(std::string_view line);

}  // namespace evener::host
