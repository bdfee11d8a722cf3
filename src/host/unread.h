#pragma once

#include "host/seen.h"

namespace evener::host {

// What a capture held, for the list of what is missing.
struct Captured {
  bool is_pasted = false;
  bool has_lspci = false;
  bool lspci_is_cut = false;
  bool has_sysfs = false;
  bool has_iomem = false;
  bool iomem_is_hidden = false;
  bool has_log = false;
  bool has_config = false;
  bool has_command_line = false;
  bool has_cpu = false;
};

// Adds to `facts.missing` what could not be read and what would help, and says whether anything is.
void add_missing(const Captured& captured, const Sightings& functions, HostFacts& facts);

}  // namespace evener::host
