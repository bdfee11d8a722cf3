#include "host/capture_script.h"

// Defined in capture_script.S.
extern "C" {
extern const char evener_capture_script_begin[];
extern const char evener_capture_script_end[];
}

namespace evener::host {

std::string_view capture_script() {
  return {evener_capture_script_begin, evener_capture_script_end};
}

}  // namespace evener::host
