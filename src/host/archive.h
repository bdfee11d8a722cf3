#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <cstddef>
#include <memory>
#include <string>

// libarchive, as far as it is used here.

namespace evener::host {

struct FreeReadArchive {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
struct FreeWriteArchive {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using ReadArchive = std::unique_ptr<archive, FreeReadArchive>;
using WriteArchive = std::unique_ptr<archive, FreeWriteArchive>;
using Entry = std::unique_ptr<archive_entry, FreeEntry>;

enum class DataEnd { complete, too_large, damaged };

// Appends the data of the present entry, `size_max` bytes at most: what a header says of its size
// is not believed.
DataEnd read_data(archive* handle, size_t size_max, std::string& out);

}  // namespace evener::host
