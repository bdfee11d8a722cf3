#include "host/pci_names.h"

#include <csetjmp>

extern "C" {
#include <pci/pci.h>
}

namespace evener::host {
namespace {

// libpci calls `error` when it cannot go on and must not be returned to; left alone it ends the
// program. Config space is read without it for that reason.
thread_local std::jmp_buf on_error;

// The attribute is part of libpci's type of it, which [[noreturn]] is not to clang.
__attribute__((noreturn)) void leave(char* /*format*/, ...) { std::longjmp(on_error, 1); }
void ignore(char* /*format*/, ...) {}

// Between setjmp and longjmp there are frames of C alone.
void load_names(pci_access* access) {
  if (setjmp(on_error) == 0) pci_load_name_list(access);  // NOLINT(cert-err52-cpp)
}

// By its own list of names: udev's says no more, and leaks.
constexpr int kFlags = PCI_LOOKUP_MIXED | PCI_LOOKUP_NO_HWDB;

}  // namespace

PciNames::PciNames() : access_(pci_alloc()) {
  access_->error = leave;
  access_->warning = ignore;
  access_->debug = ignore;  // null without pci_init()
  load_names(access_);
}

PciNames::~PciNames() { pci_cleanup(access_); }

std::string PciNames::of_class(uint16_t class_code) const {
  char name[256] = "";
  pci_lookup_name(access_, name, sizeof name, PCI_LOOKUP_CLASS | kFlags, int{class_code});
  return name;
}

std::string PciNames::of_device(PciId id) const {
  char name[512] = "";
  pci_lookup_name(access_, name, sizeof name, PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | kFlags,
                  int{id.vendor}, int{id.device});
  return name;
}

}  // namespace evener::host
