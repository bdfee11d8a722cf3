#pragma once

#include <string_view>

#include "host/seen.h"

namespace evener::host {

// sysfs.tsv: "0000:05:00.0/FIELD<TAB>VALUE", line ends of the value written as ';'. Fields are the
// files of /sys/bus/pci/devices/ADDRESS; "path" is the device's real path, which gives its parent.
// Judge: tests/host/sysfs_text_test.cpp.
Sightings read_sysfs(std::string_view text);
bool is_sysfs_line(std::string_view line);

// "pci0000:a0/0000:a0:02.0/0000:a1:00.0": the last bridge before the device, or the root bus.
std::string parent_in_path(std::string_view path);

}  // namespace evener::host
