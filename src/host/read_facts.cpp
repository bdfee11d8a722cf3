#include "host/read_facts.h"

#include <fmt/format.h>

#include <array>
#include <system_error>
#include <utility>

#include "base/mapped_file.h"
#include "host/collect.h"
#include "host/facts_json.h"
#include "host/plain_text.h"
#include "host/snapshot_files.h"
#include "host/snapshot_folder.h"
#include "host/snapshot_tar.h"

namespace evener::host {
namespace {

constexpr size_t kPackedBytesMax = size_t{64} << 20;
constexpr size_t kTextBytesMax = kSnapshotFileBytesMax;

enum class Kind { tar, facts, text, unknown_archive, empty };

// First bytes of what people pack things with and this does not read.
constexpr std::array<std::string_view, 6> kForeignArchives = {
    "\xfd"
    "7zXZ",
    "BZh",
    "PK\x03\x04",
    "7z\xbc\xaf",
    "\x28\xb5\x2f\xfd",
    "Rar!"};

Kind kind_of(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return Kind::tar;
  if (bytes.size() > 262 && bytes.substr(257, 5) == "ustar") return Kind::tar;
  for (const std::string_view magic : kForeignArchives) {
    if (bytes.starts_with(magic)) return Kind::unknown_archive;
  }
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == bytes.npos) return Kind::empty;
  return bytes[first] == '{' ? Kind::facts : Kind::text;
}

Error unreadable(Code code, std::string where, std::string why, std::string remedy) {
  return {.code = code,
          .doing = "read facts of a machine",
          .where = std::move(where),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

Error too_large(std::string where, size_t size_max) {
  return unreadable(Code::limit_exceeded, std::move(where),
                    fmt::format("is larger than {} MiB", size_max >> 20),
                    "give a snapshot, or the output of lspci -vvv and the kernel's log alone");
}

// A single file of a snapshot is known by its name, where its text alone does not tell.
Result<Snapshot> snapshot_of_one_text(std::string_view bytes, const std::string& where) {
  const std::string name = std::filesystem::path(where).filename().string();
  const bool is_table = name.ends_with(".tsv") || name == "iomem.txt" || name == "cpu.txt" ||
                        name == "kconfig.txt" || name == "dmi.txt";
  if (!is_table || !is_known_file(name))
    return snapshot_of_text(plain_text(std::string(bytes)), where);
  Snapshot snapshot;
  snapshot.origin = where;
  RETURN_IF_ERROR(add_file(snapshot, name, std::string(bytes)));
  return snapshot;
}

Result<Snapshot> snapshot_of_bytes(std::string_view bytes, const std::string& where) {
  const Kind kind = kind_of(bytes);
  if (kind == Kind::empty)
    return unreadable(Code::corrupt, where, "is empty",
                      "give a snapshot, or what lspci -vvv and dmesg print");
  if (kind == Kind::unknown_archive)
    return unreadable(Code::unsupported, where, "is packed in a way that is not read here",
                      "unpack it and give the folder, or pack it as tar.gz");
  if (kind == Kind::facts)
    return unreadable(Code::unsupported, where, "holds facts.json, not a snapshot", {});
  if (bytes.size() > (kind == Kind::tar ? kPackedBytesMax : kTextBytesMax))
    return too_large(where, kind == Kind::tar ? kPackedBytesMax : kTextBytesMax);
  return kind == Kind::tar ? read_snapshot_tar(bytes, where) : snapshot_of_one_text(bytes, where);
}

Result<HostFacts> facts_with_unread(const Snapshot& snapshot) {
  ASSIGN_OR_RETURN(HostFacts facts, facts_of(snapshot));
  for (Missing& missing : unread_of(snapshot)) facts.missing.push_back(std::move(missing));
  return facts;
}

std::string_view text_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

Result<Snapshot> read_snapshot(const std::filesystem::path& path) {
  if (is_folder(path)) return read_snapshot_folder(path);
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return snapshot_of_bytes(text_of(file), path.string());
}

Result<HostFacts> facts_of_bytes(std::string_view bytes, std::string where) {
  if (kind_of(bytes) == Kind::facts) {
    if (bytes.size() > kTextBytesMax) return too_large(std::move(where), kTextBytesMax);
    return facts_from_json(plain_text(std::string(bytes)), where);
  }
  ASSIGN_OR_RETURN(const Snapshot snapshot, snapshot_of_bytes(bytes, where));
  return facts_with_unread(snapshot);
}

Result<HostFacts> read_facts(const std::filesystem::path& path) {
  if (is_folder(path)) {
    ASSIGN_OR_RETURN(const Snapshot snapshot, read_snapshot_folder(path));
    return facts_with_unread(snapshot);
  }
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return facts_of_bytes(text_of(file), path.string());
}

Result<HostFacts> read_live() {
  ASSIGN_OR_RETURN(const Collected collected, collect());
  return facts_with_unread(collected.snapshot);
}

}  // namespace evener::host
