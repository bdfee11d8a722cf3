#include "host/mask.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "host/ascii.h"
#include "host/config_serials.h"
#include "host/mask_line.h"
#include "host/snapshot_files.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

// Names of hosts that say nothing about whose they are, and without which a log says nothing.
constexpr std::array<std::string_view, 24> kCommonNames = {
    "localhost", "linux",  "kernel", "pci",    "pcie",   "gpu",    "amd",    "amdgpu",
    "nvidia",    "intel",  "iommu",  "ubuntu", "debian", "fedora", "arch",   "host",
    "root",      "server", "bar",    "memory", "bridge", "window", "driver", "device"};

bool is_worth_masking(const std::string& name) {
  if (name.size() < 3 || std::ranges::all_of(name, is_digit)) return false;
  return std::ranges::find(kCommonNames, to_lower(name)) == kCommonNames.end();
}

// Where anything may stand: logs, options, programs' output and files that we do not know.
bool is_free_text(std::string_view name) {
  return name == "dmesg.txt" || name == "cmdline.txt" || name.starts_with("tools/") ||
         !is_known_file(name);
}

std::string masked_lines(std::string_view text, bool free, LineMasker& masker) {
  std::string out;
  out.reserve(text.size());
  each_line(text, [&](std::string_view line) {
    out += free ? masker.mask_free_text(std::string(line))
                : masker.mask_identifiers(std::string(line));
    out += '\n';
  });
  return out;
}

void mask_hex(std::string& text, MaskCounts& counts) {
  const ConfigSerials serials = find_config_serials(text);
  for (const size_t at : serials.positions) text.replace(at, 2, "00");
  if (serials.num_functions > 0)
    counts["device serial number in config space"] += serials.num_functions;
}

}  // namespace

MaskCounts mask(Snapshot& snapshot, const std::vector<std::string>& host_names) {
  std::vector<std::string> names;
  std::ranges::copy_if(host_names, std::back_inserter(names), is_worth_masking);
  MaskCounts counts;
  LineMasker masker(std::move(names), counts);
  for (auto& [name, text] : snapshot.files) {
    mask_hex(text, counts);
    text = masked_lines(text, is_free_text(name), masker);
  }
  return counts;
}

}  // namespace evener::host
