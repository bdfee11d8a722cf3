#include "device/vulkan/named_adapter.h"

#include <atomic>

#include "base/log.h"
#include "device/vulkan/instance.h"

namespace evener::device::vulkan {

Result<Adapter> named_adapter(const DeviceName& name) {
  ASSIGN_OR_RETURN(const auto instance, Instance::get());
  ASSIGN_OR_RETURN(const size_t index, find_adapter(instance->adapters(), name.adapter));
  return instance->adapters()[index];
}

void warn_of_software(const Adapter& adapter) {
  static std::atomic<bool> is_said = false;
  if (!adapter.is_software() || is_said.exchange(true)) return;
  log::warning(
      "{} is software ({}): it computes on the CPU, slower than cpu:0 does; it is there for tests",
      place_of(adapter), adapter.name);
}

}  // namespace evener::device::vulkan
