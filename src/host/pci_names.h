#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host/pci_address.h"

struct pci_access;

namespace evener::host {

// Names of vendors, devices and classes from the system's pci.ids, each with its number behind, as
// `lspci -nn` prints them: "Host bridge [0600]". Numbers alone where the list is missing or
// damaged. Not from two threads at once.
class PciNames {
 public:
  PciNames();
  PciNames(const PciNames&) = delete;
  PciNames& operator=(const PciNames&) = delete;
  ~PciNames();

  std::string of_class(uint16_t class_code) const;
  std::string of_device(PciId id) const;

 private:
  pci_access* access_;
};

}  // namespace evener::host
