#include "doctor/amd_driver.h"

#include <algorithm>

#include "doctor/settings.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr Release kFirst{6, 0};

// The package's module states a version of its own; the kernel's has none.
bool is_package(const host::Kernel& kernel) {
  if (setting(kernel.module_parameters, "amdgpu.version")) return true;
  return std::ranges::any_of(kernel.patches,
                             [](const std::string& patch) { return mentions(patch, "dkms"); });
}

}  // namespace

AmdDriver amd_driver(const Case& c) {
  if (is_package(c.facts.kernel)) return AmdDriver::has_peers;
  if (!c.kernel) return AmdDriver::unknown;
  if (c.kernel->release >= kFirst) return AmdDriver::has_peers;
  return c.kernel->is_upstream() ? AmdDriver::too_old : AmdDriver::unknown;
}

}  // namespace evener::doctor
