#include "device/create_device.h"

#include <charconv>
#include <string>

#include "base/text.h"
#include "device/cpu/cpu_device.h"

namespace evener::device {

Result<std::unique_ptr<Device>> create_device(std::string_view name, size_t num_threads) {
  constexpr std::string_view kCpu = "cpu:";
  const std::string_view number =
      name.starts_with(kCpu) ? name.substr(kCpu.size()) : std::string_view();
  size_t node = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), node);
  if (error != std::errc() || end != number.data() + number.size()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "open device",
                 .where = "'" + printable(name, 40) + "'",
                 .why = "there is no such kind of device",
                 .remedy = "devices are cpu:N, the cores of NUMA node N"};
  }
  return cpu::create_cpu_device({.numa_node = node, .num_threads = num_threads, .isa = {}});
}

}  // namespace evener::device
