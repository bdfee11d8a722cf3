#include "host/archive.h"

#include <array>

namespace evener::host {

DataEnd read_data(archive* handle, size_t size_max, std::string& out) {
  std::array<char, 65536> buffer{};
  size_t size = 0;
  while (true) {
    const la_ssize_t count = archive_read_data(handle, buffer.data(), buffer.size());
    if (count < 0) return DataEnd::damaged;
    if (count == 0) return DataEnd::complete;
    size += static_cast<size_t>(count);
    if (size > size_max) return DataEnd::too_large;
    out.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace evener::host
