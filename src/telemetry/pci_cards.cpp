#include "telemetry/pci_cards.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/pci_address.h"
#include "host/text_lines.h"

namespace evener::telemetry {
namespace {

constexpr size_t kCardsMax = 64;
constexpr const char* kFolder = "sys/bus/pci/devices/";

std::optional<uint64_t> read_hex(const host::FileTree& files, const std::string& path) {
  const auto line = files.read_line(path);
  return line ? host::parse_uint(*line, 16) : std::nullopt;
}

// A bridge that sits on an AMD card: of AMD's graphics vendor, or one of the two of Vega 10, whose
// vendor is that of AMD's root ports too.
bool is_card_bridge(const host::FileTree& files, const std::string& path) {
  if (read_hex(files, path + "/class").value_or(0) >> 8 != 0x0604) return false;
  const auto vendor = read_hex(files, path + "/vendor");
  if (vendor == kAmd) return true;
  const auto device = read_hex(files, path + "/device");
  return vendor == 0x1022 && (device == 0x1470 || device == 0x1471);
}

// The ports above a function, the nearest first.
std::vector<std::string> ports_above(const host::FileTree& files, const PciCard& card) {
  std::vector<std::string> ports;
  const std::string target = files.link(card.path).value_or("");
  for (const std::string_view part : host::split(target, '/')) {
    if (host::parse_pci_address(part)) ports.emplace_back(part);
  }
  if (!ports.empty()) ports.pop_back();  // the function itself
  std::ranges::reverse(ports);
  return ports;
}

}  // namespace

std::vector<PciCard> find_pci_cards(const host::FileTree& files, uint16_t vendor,
                                    const std::string& driver) {
  std::vector<std::pair<host::PciAddress, PciCard>> found;
  for (const std::string& entry : files.list(kFolder)) {
    const auto address = host::parse_pci_address(entry);
    const std::string path = kFolder + entry;
    if (!address || found.size() == kCardsMax) continue;
    if (read_hex(files, path + "/vendor") != vendor) continue;
    const uint64_t class_code = read_hex(files, path + "/class").value_or(0);
    const bool accelerator = class_code >> 8 == 0x1200;
    if (class_code >> 16 != 0x03 && !accelerator) continue;
    if (!files.link(path + "/driver").value_or("").ends_with("/" + driver)) continue;
    found.push_back({*address, {host::to_string(*address), path}});
  }
  std::ranges::sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<PciCard> cards;
  for (auto& [address, card] : found) cards.push_back(std::move(card));
  return cards;
}

bool is_asleep(const host::FileTree& files, const PciCard& card) {
  const auto status = files.read_line(card.path + "/power/runtime_status");
  return status && *status != "active" && *status != "unsupported";
}

std::string slot_link_path(const host::FileTree& files, const PciCard& card) {
  constexpr size_t kBridgesMax = 2;
  std::string path = card.path;
  size_t num_bridges = 0;
  for (const std::string& port : ports_above(files, card)) {
    if (num_bridges++ == kBridgesMax || !is_card_bridge(files, kFolder + port)) break;
    path = kFolder + port;
  }
  return path;
}

}  // namespace evener::telemetry
