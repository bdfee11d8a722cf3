#include "host/gzip.h"

#include "host/archive.h"

namespace evener::host {

std::optional<std::string> gunzip(std::string_view bytes, size_t size_max) {
  const ReadArchive archive(archive_read_new());
  archive_read_support_filter_gzip(archive.get());
  archive_read_support_format_raw(archive.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(archive.get(), bytes.data(), bytes.size()) != ARCHIVE_OK ||
      archive_read_next_header(archive.get(), &entry) != ARCHIVE_OK)
    return std::nullopt;
  std::string text;
  if (read_data(archive.get(), size_max, text) != DataEnd::complete) return std::nullopt;
  return text;
}

}  // namespace evener::host
