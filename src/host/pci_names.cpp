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

}  // namespace

PciNames::PciNames() : access_(pci_alloc()) {
  access_->error = leave;
  access_->warning = ignore;
  access_->debug = ignore;  // called when it looks for names elsewhere; null without pci_init()
  load_names(access_);
}

PciNames::~PciNames() { pci_cleanup(access_); }

std::string PciNames::of_class(uint16_t class_code) const {
  char name[256] = "";
  pci_lookup_name(access_, name, sizeof name, PCI_LOOKUP_CLASS | PCI_LOOKUP_MIXED, int{class_code});
  return name;
}

std::string PciNames::of_device(PciId id) const {
  char name[512] = "";
  pci_lookup_name(access_, name, sizeof name,
                  PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | PCI_LOOKUP_MIXED, int{id.vendor},
                  int{id.device});
  return name;
}

}  // namespace evener::host
