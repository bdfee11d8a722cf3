// The kernel's log, its lines about buses and GPUs alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "host/ascii.h"
#include "host/capture.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr size_t kLogBytesMax = size_t{32} << 20;
const std::string kLogPath = "dev/kmsg";

// A line is kept if one of these is in it, in any case. Short ones count only as whole words.
// "vram" is for kernels that print the sizes of VRAM and BAR without naming their driver.
constexpr std::array<std::string_view, 15> kWords = {
    "pci",  "iommu", "dmar", "amd-vi",     "amdgpu",    "nvrm",           "nvidia", "nouveau",
    "dmi:", "bar ",  "vram", "hypervisor", "whitelist", "hardware error", "trn="};
constexpr std::array<std::string_view, 6> kWholeWords = {"kfd", "aer", "acs", "p2p", "xe", "i915"};
// And dropped if one of these is: nothing for us in it, but names of disks, users and sticks.
constexpr std::array<std::string_view, 7> kUnwanted = {
    "command line", "usb", "scsi", "audit", "systemd", "linux version", "bluetooth"};

bool has_word(std::string_view line, std::string_view word) {
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !is_alnum(line[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == line.size() || !is_alnum(line[end]))) return true;
  }
  return false;
}

// "nvme0:", "ata7": a disk's own lines.
bool is_of_disk(std::string_view line) {
  for (const std::string_view name : {std::string_view("nvme"), std::string_view("ata")}) {
    const size_t at = line.find(name);
    if (at == std::string_view::npos || (at > 0 && is_alnum(line[at - 1]))) continue;
    if (at + name.size() < line.size() && is_digit(line[at + name.size()])) return true;
  }
  return false;
}

bool is_of_interest(std::string_view line) {
  const std::string low = to_lower(line);
  const auto in_line = [&](std::string_view part) { return low.contains(part); };
  if (std::ranges::any_of(kUnwanted, in_line) || is_of_disk(low)) return false;
  return std::ranges::any_of(kWords, in_line) ||
         std::ranges::any_of(kWholeWords,
                             [&](std::string_view word) { return has_word(low, word); });
}

// A record of /dev/kmsg: "priority,number,microseconds,flags;text". Lines that begin with a space
// belong to the record before and name its device.
struct Record {
  uint64_t number = 0;
  uint64_t time_us = 0;
  std::string_view text;
};

std::optional<Record> parse_record(std::string_view line) {
  const size_t semicolon = line.find(';');
  if (line.empty() || line[0] == ' ' || semicolon == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, semicolon);
  std::array<uint64_t, 3> fields{};
  for (uint64_t& field : fields) {
    const auto [end, error] = std::from_chars(head.data(), head.data() + head.size(), field);
    if (error != std::errc()) return std::nullopt;
    head.remove_prefix(static_cast<size_t>(end - head.data()));
    if (!head.empty()) head.remove_prefix(1);
  }
  return Record{.number = fields[1], .time_us = fields[2], .text = line.substr(semicolon + 1)};
}

}  // namespace

void collect_kernel_log(Capture& capture) {
  const auto records = capture.tree.read_records(kLogPath, kLogBytesMax);
  if (!records) {
    capture.miss("the kernel's log (/dev/kmsg)", capture.tree.why_unread(kLogPath),
                 "capture as root on the host itself");
    return;
  }
  std::string text;
  std::optional<uint64_t> first;
  each_line(*records, [&](std::string_view line) {
    const auto record = parse_record(line);
    if (!record) return;
    if (!first) first = record->number;
    if (!is_of_interest(record->text)) return;
    text += fmt::format("[{:5}.{:06}] {}\n", record->time_us / 1'000'000,
                        record->time_us % 1'000'000, record->text);
  });
  if (first.value_or(0) > 0)
    capture.miss("the kernel's log from the boot on",
                 fmt::format("its first {} lines have been overwritten", *first),
                 "capture soon after a boot, or boot with log_buf_len=16M");
  capture.add("dmesg.txt", text);
}

}  // namespace evener::host
