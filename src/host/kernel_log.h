#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host_windows.h"
#include "host/seen.h"

namespace evener::host {

// What the kernel's log says of a machine. It is history: what it says of a device may have changed
// since.
struct KernelLog {
  Sightings functions;
  WindowsByBus roots;
  Machine machine;      // board and BIOS, processor, guest
  std::string release;  // "Linux version ..."
  std::optional<std::string> command_line;
  std::vector<std::string> unknown_options;
  std::optional<IommuMode> default_domain;  // what the kernel would choose; none may be active
  bool has_iommu_groups = false;
  std::vector<std::string> lines;  // those that matter to the rules, without their time
};
KernelLog read_kernel_log(std::string_view text);

// A line as dmesg, journalctl or a report prints it: "[    1.23] pci 0000:05:00.0: ...".
bool is_log_line(std::string_view line);
// Without the time, the date, the machine's name and "kernel: ".
std::string_view log_message(std::string_view line);

}  // namespace evener::host
