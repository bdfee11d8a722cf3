#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "device/vulkan/gpu.h"

namespace evener::device::vulkan {

// A kernel and the constants that it is specialised for: constant_id 0, 1, ...; 0 is the number of
// threads of a workgroup where the kernel leaves that open.
struct PipelineKey {
  static constexpr size_t kConstantsMax = 9;

  std::string_view kernel;
  std::array<uint32_t, kConstantsMax> constants{};
  uint32_t num_constants = 0;

  auto operator<=>(const PipelineKey&) const = default;
};

// Kernels made ready for one device, each when it is first asked for. What the driver made of them
// is kept in a file for the next start.
class Pipelines {
 public:
  static constexpr uint32_t kPushBytes = 128;  // of arguments; Vulkan promises no more

  // `cache_file` empty: nothing is kept.
  static Result<std::unique_ptr<Pipelines>> create(std::shared_ptr<Gpu> gpu,
                                                   std::filesystem::path cache_file);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  VkPipelineLayout layout() const { return layout_; }

  // Errors: unsupported (the driver cannot compile it), out_of_memory.
  Result<VkPipeline> get(const PipelineKey& key);

  // Writes the file, if there is something to write.
  void save();

 private:
  explicit Pipelines(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  Status open(std::filesystem::path cache_file);
  Result<VkPipeline> make(const PipelineKey& key);

  std::shared_ptr<Gpu> gpu_;
  std::filesystem::path cache_file_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<PipelineKey, VkPipeline> made_;
  size_t num_unsaved_ = 0;
};

// Where Pipelines are kept for an adapter: in $XDG_CACHE_HOME or ~/.cache, a file for each driver
// and card. Empty: the environment names no folder.
std::filesystem::path pipeline_cache_file(const Adapter& adapter);

}  // namespace evener::device::vulkan
