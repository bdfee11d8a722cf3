// Any text as a list of devices and as a fault to inject. A name that is taken is written again and
// read back as the same. Seeds: tests/data/fuzz/device_words.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "device/device_name.h"
#include "parallel/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> names = device::split_device_list(text);
  const bool fits = device::check_no_core_twice(names).has_value();
  for (const std::string& name : names) {
    const auto parsed = device::parse_device_name(name);
    EVENER_ASSERT(parsed || !fits);
    if (!parsed) continue;
    if (parsed->kind == device::DeviceKind::vulkan) {
      EVENER_ASSERT(!parsed->adapter.empty());
      EVENER_ASSERT(parsed->adapter.size() <= device::kAdapterWordsMax);
      EVENER_ASSERT(parsed->part < device::kPartsMax);
    }
    const auto again = device::parse_device_name(device::to_string(*parsed));
    EVENER_ASSERT(again && *again == *parsed);
  }
  const auto fault = parallel::parse_fault(text);
  EVENER_ASSERT(fault || !fault.error().why.empty());
  return 0;
}
