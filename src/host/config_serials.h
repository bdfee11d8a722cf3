#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace evener::host {

// Where a hex dump of config space (`lspci -xxxx`) gives away which device this is: the Device
// Serial Number capability and what a read of vital product data left behind.
struct ConfigSerials {
  std::vector<size_t> positions;  // in the text, of two-digit bytes that are not 00
  size_t num_functions = 0;       // that have some
};

// Any text; lines that are no hex dump are passed over. Linear.
ConfigSerials find_config_serials(std::string_view lspci);

}  // namespace evener::host
