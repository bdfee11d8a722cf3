#pragma once

#include <string>

#include "base/error.h"

namespace evener::engine {

// A text that differs between programs: version, commit, and a hash of the file that runs, since
// one commit can be built in many ways: "0.1.0 1b2c3d4, build 9f3c0a4411223344". Error: as
// MappedFile::open.
Result<std::string> program_identity();

}  // namespace evener::engine
