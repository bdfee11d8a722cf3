#include "host/snapshot_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "host/plain_text.h"

namespace evener::host {
namespace {

constexpr size_t kNameBytesMax = 200;

constexpr std::array<std::string_view, 15> kKnownFiles = {
    "MANIFEST",       "cmdline.txt", "kconfig.txt", "cpu.txt",        "dmi.txt",
    "iomem.txt",      "dmesg.txt",   "lspci.txt",   "lspci-tree.txt", "sysfs.tsv",
    "load/sysfs.tsv", "kfd.tsv",     "mod.tsv",     "numa.tsv",       "unread.tsv",
};

Error bad_name(std::string_view name, const std::string& where, std::string why) {
  return {.code = Code::corrupt,
          .doing = "read snapshot",
          .where = fmt::format("{}, member '{}'", where, printable(name)),
          .why = std::move(why),
          .remedy =
              "a snapshot holds plain files below one folder; unpack it by hand if you trust "
              "who sent it, and give the folder"};
}

Error too_large(const Snapshot& snapshot, std::string_view name, std::string why) {
  return {.code = Code::limit_exceeded,
          .doing = "read snapshot",
          .where = fmt::format("{}, file '{}'", snapshot.origin, printable(name)),
          .why = std::move(why),
          .remedy = "is this a snapshot? one of a large machine takes a few MiB"};
}

size_t total_bytes(const Snapshot& snapshot) {
  size_t sum = 0;
  for (const auto& [name, text] : snapshot.files) sum += text.size();
  return sum;
}

std::string_view top_folder(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

}  // namespace

bool is_known_file(std::string_view name) {
  if (name.starts_with("tools/")) return true;
  return std::ranges::find(kKnownFiles, name) != kKnownFiles.end();
}

Result<std::string> checked_name(std::string_view name, const std::string& where) {
  if (name.empty()) return bad_name(name, where, "has no name");
  if (name.size() > kNameBytesMax) return bad_name(name, where, "has too long a name");
  if (name.front() == '/') return bad_name(name, where, "is an absolute path");
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return bad_name(name, where, "has control characters in its name");
  std::string clean;
  const std::string_view whole = name;
  while (!name.empty()) {
    const size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (part == "..") return bad_name(whole, where, "leads out of its folder");
    if (part.empty() || part == ".") continue;
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  if (clean.empty()) return bad_name(whole, where, "has no name");
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) >= 0x7f) c = '?';  // none of ours has such a character
  }
  return clean;
}

Status add_file(Snapshot& snapshot, std::string name, std::string bytes) {
  if (snapshot.files.size() >= kSnapshotFilesMax)
    return too_large(snapshot, name, fmt::format("there are more than {}", kSnapshotFilesMax));
  if (bytes.size() > kSnapshotFileBytesMax)
    return too_large(snapshot, name,
                     fmt::format("is larger than {} MiB", kSnapshotFileBytesMax >> 20));
  if (total_bytes(snapshot) + bytes.size() > kSnapshotBytesMax)
    return too_large(snapshot, name,
                     fmt::format("all together are larger than {} MiB", kSnapshotBytesMax >> 20));
  if (snapshot.files.contains(name))
    return bad_name(name, snapshot.origin, "is in it twice: which is true?");
  snapshot.files.emplace(std::move(name), plain_text(std::move(bytes)));
  return {};
}

void strip_top_folder(Snapshot& snapshot) {
  if (snapshot.files.empty()) return;
  const std::string top(top_folder(snapshot.files.begin()->first));
  if (top.empty() || top == "tools" || top == "load") return;
  const auto shares = [&](const auto& file) { return top_folder(file.first) == top; };
  if (!std::ranges::all_of(snapshot.files, shares)) return;
  decltype(snapshot.files) stripped;
  for (auto& [name, text] : snapshot.files)
    stripped.emplace(name.substr(top.size() + 1), std::move(text));
  snapshot.files = std::move(stripped);
}

Status check_is_snapshot(const Snapshot& snapshot) {
  const auto known = [](const auto& file) { return is_known_file(file.first); };
  if (std::ranges::any_of(snapshot.files, known)) return {};
  return Error{.code = Code::corrupt,
               .doing = "read snapshot",
               .where = snapshot.origin,
               .why = "holds none of a snapshot's files (lspci.txt, sysfs.tsv, dmesg.txt, ...)",
               .remedy = "make one with 'evener snapshot', or give a file with lspci's output"};
}

}  // namespace evener::host
