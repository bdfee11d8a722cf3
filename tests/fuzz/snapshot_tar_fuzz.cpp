// Any bytes as a packed snapshot: they are refused, or what they hold obeys the limits, can be
// masked, and packs and unpacks to the same. And as the text of its files, for few bytes that are
// made up pass the checksum of a tar. Seeds: tests/data/fuzz/snapshot_tar.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/utf8.h"
#include "host/mask.h"
#include "host/snapshot_files.h"
#include "host/snapshot_tar.h"

namespace evener::host {
namespace {

void check_limits(const Snapshot& snapshot) {
  EVENER_ASSERT(!snapshot.files.empty());
  EVENER_ASSERT(snapshot.files.size() <= kSnapshotFilesMax);
  for (const auto& [name, text] : snapshot.files) {
    const auto again = checked_name(name, "again");
    EVENER_ASSERT(again.has_value());
    EVENER_ASSERT(*again == name);
    EVENER_ASSERT(utf8::is_valid(text));
    EVENER_ASSERT(text.find('\0') == text.npos);
  }
}

// Nothing that the first look finds is left for it to find again.
void check_masks(Snapshot snapshot) {
  mask(snapshot, {"workstation"});
  const auto masked = snapshot.files;
  EVENER_ASSERT(mask(snapshot, {"workstation"}).empty());
  EVENER_ASSERT(snapshot.files == masked);
  find_identifiers(snapshot);
}

void pack_again(const Snapshot& snapshot) {
  const auto bytes = snapshot_tar(snapshot);
  EVENER_ASSERT(bytes.has_value());
  const auto same = read_snapshot_tar(*bytes, "again");
  EVENER_ASSERT(same.has_value());
  EVENER_ASSERT(same->files == snapshot.files);
}

void check_as_text(std::string_view bytes) {
  Snapshot snapshot;
  for (const char* name : {"lspci.txt", "dmesg.txt"})
    EVENER_ASSERT(add_file(snapshot, name, std::string(bytes)).has_value());
  check_limits(snapshot);
  check_masks(std::move(snapshot));
}

}  // namespace
}  // namespace evener::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto snapshot = evener::host::read_snapshot_tar(bytes, "fuzz");
  if (!snapshot) {
    EVENER_ASSERT(!snapshot.error().why.empty());
    evener::host::check_as_text(bytes);
    return 0;
  }
  evener::host::check_limits(*snapshot);
  evener::host::check_masks(*snapshot);
  evener::host::pack_again(*snapshot);
  return 0;
}
