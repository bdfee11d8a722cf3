#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/vulkan/api.h"

namespace evener::device::vulkan {

enum class AdapterKind { discrete, integrated, virtual_gpu, software, other };
std::string_view to_string(AdapterKind kind);

// A graphics processor as its driver describes it.
struct Adapter {
  size_t index = 0;  // "vulkan:0"
  std::string name;  // "AMD Radeon RX 7900 XTX (RADV NAVI31)"
  AdapterKind kind = AdapterKind::other;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::string pci_address;  // "0000:03:00.0"; empty: it has none, or the driver does not tell
  std::string driver;       // "radv, Mesa 23.2.1"
  std::string version;      // of Vulkan: "1.3.230"

  size_t memory_bytes = 0;           // of its own memory
  std::optional<size_t> free_bytes;  // of it, for this process; none: the driver does not tell
  size_t host_visible_bytes = 0;     // of it, that the host reaches: all of it with ReBAR
  size_t allocation_bytes_max = 0;   // in one piece
  uint32_t subgroup_size = 0;        // that shaders get without asking
  uint32_t subgroup_size_min = 0;
  uint32_t subgroup_size_max = 0;
  uint32_t shared_bytes = 0;  // that a workgroup may share
  uint32_t workgroup_threads_max = 0;

  bool has_fp16 = false;      // arithmetic
  bool has_int8_dot = false;  // four products of bytes in one instruction
  bool has_cooperative_matrix = false;
  bool has_timeline_semaphore = false;
  double nanoseconds_per_tick = 0;   // of timestamps of its queue; 0: it has none
  bool shares_memory_by_fd = false;  // with another device of this machine
  bool shares_memory_as_dma_buf = false;
  bool hands_over_to_foreign_queues = false;  // those of other drivers
  bool takes_host_memory = false;             // pages of the process as memory of the device

  uint32_t queue_family = 0;  // that Evener computes in

  std::vector<std::string> missing;  // what Evener needs and it lacks; empty: it can be used

  bool is_software() const { return kind == AdapterKind::software; }
  bool has_all_memory_in_bar() const { return host_visible_bytes >= memory_bytes; }
};

// "vulkan:0": how it is called whatever words have named it.
std::string place_of(const Adapter& adapter);
std::string title_of(const Adapter& adapter);  // "vulkan:0, AMD Radeon RX 7900 XTX (RADV NAVI31)"

// That it can compute for us. Error: unsupported, naming what it lacks.
Status check_usable(const Adapter& adapter);

// What a driver says of a physical device.
Adapter read_adapter(const InstanceApi& api, VkPhysicalDevice device, size_t index);

// The adapter that somebody means by "0", "03:00.0", "0000:03:00.0" or a part of its name in any
// case ("7900 xtx"). Errors: invalid_argument: none or more than one is meant, listing them.
Result<size_t> find_adapter(const std::vector<Adapter>& adapters, std::string_view words);

}  // namespace evener::device::vulkan
