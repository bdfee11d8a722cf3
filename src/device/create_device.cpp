#include "device/create_device.h"

#include <utility>

#include "device/cpu/cpu_device.h"
#include "device/cpu/cpu_node.h"
#include "device/device_name.h"

namespace evener::device {

Result<std::unique_ptr<Device>> create_device(std::string_view name, size_t num_threads) {
  ASSIGN_OR_RETURN(DeviceName parsed, parse_device_name(name));
  return cpu::create_cpu_device({.numa_node = parsed.numa_node,
                                 .cores = std::move(parsed.cores),
                                 .num_threads = num_threads,
                                 .isa = {}});
}

Status check_devices(const std::vector<std::string>& names) {
  RETURN_IF_ERROR(check_no_core_twice(names));
  for (const std::string& text : names) {
    ASSIGN_OR_RETURN(const DeviceName name, parse_device_name(text));
    ASSIGN_OR_RETURN(const cpu::CpuNode node, cpu::read_cpu_node(name.numa_node));
    RETURN_IF_ERROR(cpu::cores_of(node, name));
  }
  return {};
}

}  // namespace evener::device
