#include "device/vulkan/instance.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "base/text.h"

namespace evener::device::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

Error no_vulkan(std::string why, std::string remedy) {
  return Error{.code = Code::unsupported,
               .doing = "use Vulkan",
               .where = {},
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

bool wants_validation() { return environment("EVENER_VULKAN_VALIDATION") == "1"; }

bool has_layer(const GlobalApi& api, const char* name) {
  uint32_t count = 0;
  api.EnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  api.EnumerateInstanceLayerProperties(&count, layers.data());
  return std::ranges::any_of(
      layers, [&](const auto& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* num_complaints) {
  ++*static_cast<std::atomic<size_t>*>(num_complaints);
  const bool is_error = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0;
  const std::string text = std::string("Vulkan validation: ") + data->pMessage;
  is_error ? log::error("{}", text) : log::warning("{}", text);
  return VK_FALSE;
}

}  // namespace

Result<std::shared_ptr<Instance>> Instance::get() {
  static std::mutex mutex;
  static std::shared_ptr<Instance> instance;
  const std::lock_guard lock(mutex);
  if (!instance) {
    ASSIGN_OR_RETURN(instance, create());
  }
  return instance;
}

Result<std::shared_ptr<Instance>> Instance::create() {
  std::shared_ptr<Instance> instance(new Instance);
  RETURN_IF_ERROR(instance->open());
  return instance;
}

Status Instance::open() {
  library_ = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    return no_vulkan("there is no Vulkan loader (libvulkan.so.1)",
                     "install it with a driver: apt install libvulkan1 mesa-vulkan-drivers");
  }
  // dlsym() gives a pointer to data that is one to a function.
  void* const symbol = dlsym(library_, "vkGetInstanceProcAddr");
  std::memcpy(&global_.GetInstanceProcAddr, &symbol, sizeof symbol);
  if (global_.GetInstanceProcAddr == nullptr) {
    return no_vulkan("libvulkan.so.1 is no Vulkan loader", "install libvulkan1 again");
  }
#define EVENER_LOAD(name)                                                                      \
  global_.name =                                                                               \
      reinterpret_cast<PFN_vk##name>(global_.GetInstanceProcAddr(VK_NULL_HANDLE, "vk" #name)); \
  if (global_.name == nullptr)                                                                 \
    return no_vulkan("the loader lacks vk" #name, "install a newer libvulkan1");
  EVENER_VULKAN_GLOBAL(EVENER_LOAD)
#undef EVENER_LOAD

  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "evener";
  application.pEngineName = "evener";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const char* const messages = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  if (wants_validation()) {
    if (!has_layer(global_, kValidationLayer)) {
      return no_vulkan("EVENER_VULKAN_VALIDATION is set, and the validation layer is not there",
                       "apt install vulkan-validationlayers");
    }
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &messages;
  }
  if (const VkResult result = global_.CreateInstance(&info, nullptr, &instance_);
      result != VK_SUCCESS) {
    return no_vulkan(std::string("no driver starts: ") + result_name(result),
                     "install one: apt install mesa-vulkan-drivers, or NVIDIA's");
  }
#define EVENER_LOAD(name)                                                                         \
  api_.name = reinterpret_cast<PFN_vk##name>(global_.GetInstanceProcAddr(instance_, "vk" #name)); \
  if (api_.name == nullptr)                                                                       \
    return no_vulkan("the loader lacks vk" #name, "install a newer libvulkan1");
  EVENER_VULKAN_INSTANCE(EVENER_LOAD)
#undef EVENER_LOAD
  if (wants_validation()) watch_messages();

  uint32_t count = 0;
  api_.EnumeratePhysicalDevices(instance_, &count, nullptr);
  physical_devices_.resize(count);
  api_.EnumeratePhysicalDevices(instance_, &count, physical_devices_.data());
  physical_devices_.resize(count);
  if (physical_devices_.empty()) {
    return no_vulkan("no driver has found an adapter",
                     "install one: apt install mesa-vulkan-drivers, or NVIDIA's; "
                     "this user must be in the groups render and video");
  }
  for (size_t i = 0; i < physical_devices_.size(); ++i) {
    adapters_.push_back(read_adapter(api_, physical_devices_[i], i));
  }
  return {};
}

void Instance::watch_messages() {
  api_.CreateDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      global_.GetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
  api_.DestroyDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      global_.GetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
  if (api_.CreateDebugUtilsMessengerEXT == nullptr) return;
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = &num_complaints_;
  api_.CreateDebugUtilsMessengerEXT(instance_, &info, nullptr, &messenger_);
}

size_t Instance::free_bytes(size_t index) const {
  const Adapter now = read_adapter(api_, physical_devices_[index], index);
  return now.free_bytes.value_or(now.memory_bytes);
}

Instance::~Instance() {
  if (is_abandoned_) return;
  if (messenger_ != VK_NULL_HANDLE) {
    api_.DestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) api_.DestroyInstance(instance_, nullptr);
  // The library stays: drivers have threads and handlers that do not survive its removal.
}

}  // namespace evener::device::vulkan
