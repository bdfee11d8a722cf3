#pragma once

#include <optional>
#include <string_view>

#include "host/seen.h"

namespace evener::host {

// Reads what kernel messages say of single functions. Some drivers name no device in their lines:
// those go to the one whose line came last.
class LogDevices {
 public:
  explicit LogDevices(Sightings& functions) : functions_(&functions) {}

  void read(std::string_view message);
  bool has_iommu_groups() const { return has_iommu_groups_; }

 private:
  void read_of(std::string_view text, Seen& seen);
  void read_identity(std::string_view text, Function& function);
  bool read_bar(std::string_view text, Function& function);
  bool read_window(std::string_view text, Function& function);
  void read_link_limit(std::string_view text);
  void read_vram(std::string_view text, Card& card);

  Sightings* functions_;
  std::optional<PciAddress> last_gpu_;
  bool has_iommu_groups_ = false;
};

}  // namespace evener::host
