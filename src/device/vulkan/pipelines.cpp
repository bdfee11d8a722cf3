#include "device/vulkan/pipelines.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/environment.h"
#include "base/log.h"
#include "device/vulkan/kernel_table.h"
#include "device/vulkan/pipeline_file.h"

namespace evener::device::vulkan {
namespace {

const Kernel& kernel_of(std::string_view name) {
  const std::span all(kKernels, kNumKernels);
  const auto found = std::ranges::find(all, name, &Kernel::name);
  EVENER_ASSERT(found != all.end());
  return *found;
}

// What a driver's bytes are good for: this driver, this card, these kernels.
std::string identity_of(const Adapter& adapter) {
  uint64_t kernels = 0;
  for (const Kernel& kernel : std::span(kKernels, kNumKernels)) {
    kernels = XXH3_64bits_withSeed(kernel.begin, kernel.code().size_bytes(), kernels);
  }
  return fmt::format("{:04x}:{:04x} {}, {}, {:016x}", adapter.vendor_id, adapter.device_id,
                     adapter.name, adapter.driver, kernels);
}

}  // namespace

std::filesystem::path pipeline_cache_file(const Adapter& adapter) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) return {};
  return folder / fmt::format("vulkan-{:04x}-{:04x}-{:08x}", adapter.vendor_id, adapter.device_id,
                              uint32_t(XXH3_64bits(adapter.driver.data(), adapter.driver.size())));
}

Result<std::unique_ptr<Pipelines>> Pipelines::create(std::shared_ptr<Gpu> gpu,
                                                     std::filesystem::path cache_file) {
  std::unique_ptr<Pipelines> pipelines(new Pipelines(std::move(gpu)));
  RETURN_IF_ERROR(pipelines->open(std::move(cache_file)));
  return pipelines;
}

Status Pipelines::open(std::filesystem::path cache_file) {
  cache_file_ = std::move(cache_file);
  VkPushConstantRange push{};
  push.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  push.size = kPushBytes;
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  VkPipelineCacheCreateInfo cache{};
  cache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  const auto kept = cache_file_.empty()
                        ? std::nullopt
                        : read_pipeline_file(cache_file_, identity_of(gpu_->adapter()));
  if (kept) {
    cache.initialDataSize = kept->size();
    cache.pInitialData = kept->data();
  }
  const DeviceApi& api = gpu_->api();
  VkResult result = api.CreatePipelineLayout(gpu_->device(), &layout, nullptr, &layout_);
  if (result == VK_SUCCESS) {
    result = api.CreatePipelineCache(gpu_->device(), &cache, nullptr, &cache_);
  }
  if (result == VK_SUCCESS) return {};
  return gpu_->no_room("open device", result);
}

Result<VkPipeline> Pipelines::get(const PipelineKey& key) {
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  ASSIGN_OR_RETURN(const VkPipeline pipeline, make(key));
  made_.emplace(key, pipeline);
  ++num_unsaved_;
  return pipeline;
}

Result<VkPipeline> Pipelines::make(const PipelineKey& key) {
  const DeviceApi& api = gpu_->api();
  const Kernel& kernel = kernel_of(key.kernel);
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = kernel.code().size_bytes();
  code.pCode = kernel.begin;
  std::array<VkSpecializationMapEntry, PipelineKey::kConstantsMax> entries{};
  for (uint32_t i = 0; i < key.num_constants; ++i) entries[i] = {i, 4 * i, 4};
  VkSpecializationInfo constants{};
  constants.mapEntryCount = key.num_constants;
  constants.pMapEntries = entries.data();
  constants.dataSize = 4 * key.num_constants;
  constants.pData = key.constants.data();

  VkShaderModule module = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkResult result = api.CreateShaderModule(gpu_->device(), &code, nullptr, &module);
  if (result == VK_SUCCESS) {
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &constants;
    info.layout = layout_;
    result = api.CreateComputePipelines(gpu_->device(), cache_, 1, &info, nullptr, &pipeline);
    api.DestroyShaderModule(gpu_->device(), module, nullptr);
  }
  if (result == VK_SUCCESS) return pipeline;
  const bool has_room = result != VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return Error{.code = has_room ? Code::unsupported : Code::out_of_memory,
               .doing = "compile a kernel",
               .where = fmt::format("'{}' for {}", key.kernel, gpu_->adapter().name),
               .why = result_name(result),
               .remedy = "another version of its driver may do it"};
}

void Pipelines::save() {
  if (num_unsaved_ == 0 || cache_file_.empty() || gpu_->is_abandoned()) return;
  num_unsaved_ = 0;
  size_t size = 0;
  const DeviceApi& api = gpu_->api();
  if (api.GetPipelineCacheData(gpu_->device(), cache_, &size, nullptr) != VK_SUCCESS) return;
  std::vector<std::byte> bytes(size);
  if (api.GetPipelineCacheData(gpu_->device(), cache_, &size, bytes.data()) != VK_SUCCESS) return;
  bytes.resize(size);
  const Status written = write_pipeline_file(cache_file_, identity_of(gpu_->adapter()), bytes);
  if (!written) log::warning("{}", to_string(written.error()));
}

Pipelines::~Pipelines() {
  save();
  if (gpu_->is_abandoned()) return;
  gpu_->wait_until_idle();
  const DeviceApi& api = gpu_->api();
  for (const auto& [key, pipeline] : made_) {
    api.DestroyPipeline(gpu_->device(), pipeline, nullptr);
  }
  api.DestroyPipelineCache(gpu_->device(), cache_, nullptr);
  api.DestroyPipelineLayout(gpu_->device(), layout_, nullptr);
}

}  // namespace evener::device::vulkan
