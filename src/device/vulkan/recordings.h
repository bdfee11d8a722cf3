#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/vulkan/command.h"
#include "device/vulkan/gpu.h"

namespace evener::device::vulkan {

// A step as the driver has it: submitted any number of times, one after the other.
struct Recording {
  uint64_t hash = 0;
  std::vector<Command> commands;
  VkCommandBuffer buffer = VK_NULL_HANDLE;
  VkQueryPool queries = VK_NULL_HANDLE;  // timestamps; null: it has none
  std::vector<Work> works;               // of the time between timestamps i and i + 1
  uint64_t ends_at = 0;                  // value of the timeline after its last submission
};

// The steps that were recorded last.
class Recordings {
 public:
  static constexpr size_t kKeptMax = 48;

  static Result<std::unique_ptr<Recordings>> create(std::shared_ptr<Gpu> gpu,
                                                    VkPipelineLayout layout);
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  // The recording of these commands, with timestamps or without: one that is there, or one made
  // now. None that is still running is given: `done` is the timeline's value. Error: out_of_memory.
  Result<Recording*> get(std::span<const Command> commands, bool has_timestamps, uint64_t done);

  // Drops all; none may be running.
  void clear();

  size_t num_made() const { return num_made_; }

 private:
  explicit Recordings(std::shared_ptr<Gpu> gpu, VkPipelineLayout layout)
      : gpu_(std::move(gpu)), layout_(layout) {}
  Status record(Recording& recording, bool has_timestamps);
  void write(const Recording& recording, const Command& command) const;
  void drop(const Recording& recording);

  std::shared_ptr<Gpu> gpu_;
  VkPipelineLayout layout_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<Recording>> kept_;  // the last used at the end
  size_t num_made_ = 0;
};

}  // namespace evener::device::vulkan
