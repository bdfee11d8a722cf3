#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "device/vulkan/instance.h"

// Vulkan as tests use it: watched by Khronos' validation layer where that is installed.
namespace evener::device {

inline bool has_validation_layer() {
  for (const std::filesystem::path folder :
       {"/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d"}) {
    if (std::filesystem::exists(folder / "VkLayer_khronos_validation.json")) return true;
  }
  return false;
}

// A driver takes a quarter of a second to start, which ctest, case by case, need not wait for where
// the case is none of Vulkan.
inline bool is_vulkan_wanted() {
  const char* const wanted = std::getenv("EVENER_TEST_VULKAN");
  if (wanted != nullptr && std::string_view(wanted) == "0") return false;
  const std::string filter = GTEST_FLAG_GET(filter);
  return filter.find('*') != std::string::npos || filter.find("ulkan") != std::string::npos;
}

// Null where the environment says EVENER_TEST_VULKAN=0, and where no driver has an adapter.
inline const std::shared_ptr<vulkan::Instance>& tested_vulkan() {
  static const std::shared_ptr<vulkan::Instance> kInstance = [] {
    std::shared_ptr<vulkan::Instance> instance;
    if (!is_vulkan_wanted()) return instance;
    if (has_validation_layer()) setenv("EVENER_VULKAN_VALIDATION", "1", 0);
    if (auto got = vulkan::Instance::get(); got.has_value()) instance = *std::move(got);
    return instance;
  }();
  return kInstance;
}

inline void expect_no_complaints() {
  static size_t known = 0;
  const size_t num_complaints = tested_vulkan() ? tested_vulkan()->num_complaints() : 0;
  EXPECT_EQ(num_complaints, std::exchange(known, num_complaints)) << "Vulkan was used wrongly";
}

// Fails the test in which Vulkan was used in a wrong way.
class ComplaintsFail : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override { expect_no_complaints(); }
};

// For the initialiser of a variable of the program.
inline bool fail_at_complaints() {
  testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<ComplaintsFail>().release());
  return true;
}

}  // namespace evener::device
