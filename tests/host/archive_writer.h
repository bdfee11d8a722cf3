#pragma once

#include <string>
#include <utility>

#include "host/archive.h"

namespace evener::host {

// Archives as nobody sends them with good intentions.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(bool packed = true) : archive_(archive_write_new()) {
    archive_write_set_format_pax_restricted(archive_.get());
    if (packed) archive_write_add_filter_gzip(archive_.get());
    archive_write_set_bytes_per_block(archive_.get(), 0);
    archive_write_open(archive_.get(), &bytes_, nullptr, append, nullptr);
  }

  ArchiveWriter& add(const std::string& name, const std::string& text) {
    const Entry entry = header(name, AE_IFREG);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
    archive_write_header(archive_.get(), entry.get());
    archive_write_data(archive_.get(), text.data(), text.size());
    return *this;
  }
  ArchiveWriter& add_kind(const std::string& name, unsigned type) {
    const Entry entry = header(name, type);
    if (type == AE_IFLNK) archive_entry_set_symlink(entry.get(), "/etc/passwd");
    archive_write_header(archive_.get(), entry.get());
    return *this;
  }
  ArchiveWriter& add_hard_link(const std::string& name, const std::string& target) {
    const Entry entry = header(name, AE_IFREG);
    archive_entry_set_hardlink(entry.get(), target.c_str());
    archive_write_header(archive_.get(), entry.get());
    return *this;
  }
  // A header that promises more than there is.
  ArchiveWriter& add_size_only(const std::string& name, la_int64_t size) {
    const Entry entry = header(name, AE_IFREG);
    archive_entry_set_size(entry.get(), size);
    archive_write_header(archive_.get(), entry.get());
    return *this;
  }
  std::string finish() {
    archive_write_close(archive_.get());
    return std::move(bytes_);
  }
  // What is there so far, without an end.
  std::string break_off() {
    archive_write_fail(archive_.get());
    archive_.reset();
    return std::move(bytes_);
  }

 private:
  static Entry header(const std::string& name, unsigned type) {
    Entry entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), type);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), 0);
    return entry;
  }
  static la_ssize_t append(archive* /*handle*/, void* out, const void* bytes, size_t size) {
    static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }

  std::string bytes_;
  WriteArchive archive_;
};

inline std::string gzipped(const std::string& bytes) {
  std::string out;
  const WriteArchive archive(archive_write_new());
  archive_write_set_format_raw(archive.get());
  archive_write_add_filter_gzip(archive.get());
  archive_write_set_bytes_in_last_block(archive.get(), 1);
  archive_write_open(
      archive.get(), &out, nullptr,
      [](::archive*, void* to, const void* from, size_t size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(from), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), "data");
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_write_header(archive.get(), entry.get());
  archive_write_data(archive.get(), bytes.data(), bytes.size());
  archive_write_close(archive.get());
  return out;
}

}  // namespace evener::host
