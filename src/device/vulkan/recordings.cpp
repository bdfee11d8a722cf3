#include "device/vulkan/recordings.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace evener::device::vulkan {
namespace {

constexpr const char* kRecording = "record a step";  // for messages

constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;

void put_barrier(const DeviceApi& api, VkCommandBuffer buffer, VkPipelineStageFlags to_stages,
                 VkAccessFlags to) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = to;
  api.CmdPipelineBarrier(buffer, kStages, to_stages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void wait_for_all_before(const DeviceApi& api, VkCommandBuffer buffer) {
  put_barrier(api, buffer, kStages,
              VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                  VK_ACCESS_TRANSFER_WRITE_BIT);
}

// Between devices memory changes hands: what one wrote is not sure to be seen by the other else.
void pass_on(const DeviceApi& api, VkCommandBuffer buffer, const Command& command,
             uint32_t queue_family) {
  const bool is_release = command.kind == CommandKind::release;
  VkBufferMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER;
  barrier.srcAccessMask = is_release ? VkAccessFlags{VK_ACCESS_TRANSFER_WRITE_BIT} : 0;
  barrier.dstAccessMask = is_release ? 0 : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  barrier.srcQueueFamilyIndex = is_release ? queue_family : command.fill_word;
  barrier.dstQueueFamilyIndex = is_release ? command.fill_word : queue_family;
  barrier.buffer = command.to;
  barrier.offset = command.to_offset;
  barrier.size = command.size_bytes;
  const VkPipelineStageFlags start = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;
  const VkPipelineStageFlags end = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
  api.CmdPipelineBarrier(buffer, is_release ? kStages : start, is_release ? end : kStages, 0, 0,
                         nullptr, 1, &barrier, 0, nullptr);
}

}  // namespace

Result<std::unique_ptr<Recordings>> Recordings::create(std::shared_ptr<Gpu> gpu,
                                                       VkPipelineLayout layout) {
  std::unique_ptr<Recordings> recordings(new Recordings(std::move(gpu), layout));
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.queueFamilyIndex = recordings->gpu_->queue_family();
  const Gpu& card = *recordings->gpu_;
  const VkResult result =
      card.api().CreateCommandPool(card.device(), &info, nullptr, &recordings->pool_);
  if (result != VK_SUCCESS) return card.no_room(kRecording, result);
  return recordings;
}

Recordings::~Recordings() {
  if (gpu_->is_abandoned()) return;
  clear();
  gpu_->api().DestroyCommandPool(gpu_->device(), pool_, nullptr);
}

void Recordings::drop(const Recording& recording) {
  const DeviceApi& api = gpu_->api();
  if (recording.buffer != VK_NULL_HANDLE) {
    api.FreeCommandBuffers(gpu_->device(), pool_, 1, &recording.buffer);
  }
  api.DestroyQueryPool(gpu_->device(), recording.queries, nullptr);
}

void Recordings::clear() {
  for (const auto& each : kept_) drop(*each);
  kept_.clear();
}

Result<Recording*> Recordings::get(std::span<const Command> commands, bool has_timestamps,
                                   uint64_t done) {
  const uint64_t hash = XXH3_64bits(commands.data(), commands.size_bytes());
  const auto found = std::ranges::find_if(kept_, [&](const auto& each) {
    return each->hash == hash && each->ends_at <= done &&
           (each->queries != VK_NULL_HANDLE) == has_timestamps &&
           each->commands.size() == commands.size() &&
           std::memcmp(each->commands.data(), commands.data(), commands.size_bytes()) == 0;
  });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().get();
  }
  const auto oldest =
      std::ranges::find_if(kept_, [&](const auto& each) { return each->ends_at <= done; });
  if (kept_.size() >= kKeptMax && oldest != kept_.end()) {
    drop(**oldest);
    kept_.erase(oldest);
  }
  auto recording = std::make_unique<Recording>();
  recording->hash = hash;
  recording->commands.assign(commands.begin(), commands.end());
  if (Status recorded = record(*recording, has_timestamps); !recorded) {
    drop(*recording);
    return recorded.error();
  }
  ++num_made_;
  kept_.push_back(std::move(recording));
  return kept_.back().get();
}

Status Recordings::record(Recording& recording, bool has_timestamps) {
  const DeviceApi& api = gpu_->api();
  VkCommandBufferAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocation.commandPool = pool_;
  allocation.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocation.commandBufferCount = 1;
  VkResult result = api.AllocateCommandBuffers(gpu_->device(), &allocation, &recording.buffer);
  if (result != VK_SUCCESS) return gpu_->no_room(kRecording, result);

  for (const Command& command : recording.commands) {
    const Work work = Work(command.work);
    if (recording.works.empty() || recording.works.back() != work) recording.works.push_back(work);
  }
  if (has_timestamps) {
    VkQueryPoolCreateInfo queries{};
    queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = uint32_t(recording.works.size() + 1);
    result = api.CreateQueryPool(gpu_->device(), &queries, nullptr, &recording.queries);
    if (result != VK_SUCCESS) return gpu_->no_room(kRecording, result);
  }
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  result = api.BeginCommandBuffer(recording.buffer, &begin);
  if (result != VK_SUCCESS) return gpu_->no_room(kRecording, result);
  uint32_t num_stamps = 0;
  const auto stamp = [&](VkPipelineStageFlagBits stage) {
    if (has_timestamps) {
      api.CmdWriteTimestamp(recording.buffer, stage, recording.queries, num_stamps++);
    }
  };
  if (has_timestamps) {
    api.CmdResetQueryPool(recording.buffer, recording.queries, 0,
                          uint32_t(recording.works.size() + 1));
  }
  wait_for_all_before(api, recording.buffer);
  stamp(VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
  VkPipeline bound = VK_NULL_HANDLE;
  for (size_t i = 0; i < recording.commands.size(); ++i) {
    const Command& command = recording.commands[i];
    if (i > 0 && command.work != recording.commands[i - 1].work) {
      stamp(VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    }
    if (command.waits != 0) wait_for_all_before(api, recording.buffer);
    if (command.kind == CommandKind::dispatch && command.pipeline != bound) {
      bound = command.pipeline;
      api.CmdBindPipeline(recording.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
    }
    write(recording, command);
  }
  stamp(VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  put_barrier(api, recording.buffer, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  result = api.EndCommandBuffer(recording.buffer);
  if (result != VK_SUCCESS) return gpu_->no_room(kRecording, result);
  return {};
}

void Recordings::write(const Recording& recording, const Command& command) const {
  const DeviceApi& api = gpu_->api();
  switch (command.kind) {
    case CommandKind::dispatch:
      api.CmdPushConstants(recording.buffer, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           command.push_bytes, command.push.data());
      api.CmdDispatch(recording.buffer, command.groups[0], command.groups[1], command.groups[2]);
      return;
    case CommandKind::copy: {
      const VkBufferCopy region = {command.from_offset, command.to_offset, command.size_bytes};
      api.CmdCopyBuffer(recording.buffer, command.from, command.to, 1, &region);
      return;
    }
    case CommandKind::fill:
      api.CmdFillBuffer(recording.buffer, command.to, command.to_offset, command.size_bytes,
                        command.fill_word);
      return;
    case CommandKind::release:
    case CommandKind::acquire:
      pass_on(api, recording.buffer, command, gpu_->queue_family());
  }
}

}  // namespace evener::device::vulkan
