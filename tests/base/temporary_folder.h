#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/assert.h"

namespace evener {

// A folder of one test, removed with all that is in it. ctest runs the tests of a program side by
// side, each in a process of its own, so a fixed name in a shared folder is a race.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "evener-XXXXXX").string();
    const char* made = ::mkdtemp(pattern.data());
    EVENER_ASSERT(made != nullptr);
    path_ = made;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace evener
