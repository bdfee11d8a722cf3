#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace evener::device::vulkan {

// Notices when a driver moves to the host's memory what it was asked to keep on the card: a card
// that is too full goes on at a tenth of its speed and says nothing. amdgpu tells how much of the
// host's memory a card uses (GTT); other drivers do not.
class SpillWatch {
 public:
  // `pci_address` may be empty: nothing is noticed then.
  explicit SpillWatch(std::string pci_address, std::filesystem::path sys = "/sys");

  // Bytes of the host's memory that the card took since the watch began, beyond the `own_bytes`
  // that it was given there on purpose; none: it is little, or nobody tells. Other programs' count
  // too.
  std::optional<size_t> spilled_bytes(size_t own_bytes) const;

  // Logs it, when that is first so. Looks at most every few seconds.
  void check(size_t own_bytes);

 private:
  std::string pci_address_;
  std::filesystem::path sys_;
  std::optional<size_t> used_before_;
  std::chrono::steady_clock::time_point next_look_;
  bool was_said_ = false;
};

}  // namespace evener::device::vulkan
