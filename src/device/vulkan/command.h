#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/work_times.h"
#include "device/vulkan/api.h"
#include "device/vulkan/pipelines.h"

namespace evener::device::vulkan {

// The last two hand memory that devices share to the other, and take it from there: of `to`.
enum class CommandKind : uint32_t { dispatch, copy, fill, release, acquire };

// One thing that the card does. Plain bytes: two steps whose commands are equal bytes are the same
// step, and the second is not recorded again.
struct Command {
  CommandKind kind = CommandKind::dispatch;
  uint32_t waits = 0;  // 1: for all commands before it
  uint32_t work = 0;   // a Work

  uint32_t push_bytes = 0;
  std::array<uint32_t, 3> groups{};
  uint32_t fill_word = 0;  // or the family of queues on the other side
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::array<std::byte, Pipelines::kPushBytes> push{};

  VkBuffer from = VK_NULL_HANDLE;
  VkBuffer to = VK_NULL_HANDLE;
  VkDeviceSize from_offset = 0;
  VkDeviceSize to_offset = 0;
  VkDeviceSize size_bytes = 0;
};
static_assert(std::has_unique_object_representations_v<Command>);

}  // namespace evener::device::vulkan
