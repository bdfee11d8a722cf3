#include "engine/bundled_model.h"

// Defined in bundled_model.S.
extern "C" {
extern const std::byte evener_bundled_model_begin[];
extern const std::byte evener_bundled_model_end[];
}

namespace evener::engine {

std::span<const std::byte> bundled_model() {
  return {evener_bundled_model_begin, evener_bundled_model_end};
}

}  // namespace evener::engine
