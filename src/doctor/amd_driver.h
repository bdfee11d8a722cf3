#pragma once

#include "doctor/case.h"

namespace evener::doctor {

// Does the amdgpu that runs have a way for peers over PCIe? Linux has it since 6.0; ROCm's own
// driver package (DKMS) had one before, and distributions' kernels may run that. pci-p2p.md, 2.1.
enum class AmdDriver { unknown, too_old, has_peers };

AmdDriver amd_driver(const Case& c);

}  // namespace evener::doctor
