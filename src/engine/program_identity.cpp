#include "engine/program_identity.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/mapped_file.h"
#include "base/version.h"

namespace evener::engine {

Result<std::string> program_identity() {
  ASSIGN_OR_RETURN(const MappedFile program, MappedFile::open("/proc/self/exe"));
  return fmt::format("{} {}, build {:016x}", kVersion, kCommit,
                     XXH3_64bits(program.bytes().data(), program.bytes().size()));
}

}  // namespace evener::engine
