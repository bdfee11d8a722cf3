#pragma once

#include <string>

#include "gguf/file.h"

namespace evener::engine {

// A text that differs between models, for what is kept about one beyond the life of a process: a
// hash of the metadata that shapes the computation (all but texts and lists), of every tensor's
// name, type and shape, and of samples of its bytes. Reading whole files would take as long as
// loading them; who changes single weights by hand has to empty the cache folder by hand.
std::string model_identity(const gguf::File& file);

}  // namespace evener::engine
