#include "host/kfd_text.h"

#include <fmt/format.h>

#include <map>

#include "host/limits.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr uint64_t kPublicHeap = 1;   // VRAM that the processor sees whole
constexpr uint64_t kPrivateHeap = 2;  // VRAM behind a small BAR
constexpr uint64_t kNodesMax = 4096;

using Properties = std::map<std::string_view, uint64_t>;

struct Node {
  Properties properties;
  std::map<std::string_view, Properties> banks;  // by their path
  std::map<std::string_view, Properties> peer_links;
};

uint64_t value_of(const Properties& properties, std::string_view key) {
  const auto at = properties.find(key);
  return at == properties.end() ? 0 : at->second;
}

// The properties that "1/mem_banks/0/properties" names; null for other files.
Properties* properties_at(std::string_view path, std::map<uint64_t, Node>& nodes) {
  const auto number = leading_uint(path);
  if (!number || *number >= kNodesMax) return nullptr;
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return nullptr;
  Node& node = nodes[*number];
  const std::string_view rest = path.substr(slash + 1);
  if (rest == "properties") return &node.properties;
  if (rest.starts_with("mem_banks/")) return &node.banks[rest];
  if (rest.starts_with("p2p_links/")) return &node.peer_links[rest];
  return nullptr;
}

std::map<uint64_t, Node> read_nodes(std::string_view text) {
  std::map<uint64_t, Node> nodes;
  each_line(text, [&](std::string_view line) {
    if (line.starts_with("./")) line.remove_prefix(2);
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return;
    std::string_view rest = line.substr(tab + 1);
    const std::string_view key = take_word(rest);
    const auto value = parse_uint(trim(rest));
    Properties* properties = properties_at(line.substr(0, tab), nodes);
    if (value && properties != nullptr) properties->insert_or_assign(key, *value);
  });
  return nodes;
}

bool is_gpu(const Node& node) { return value_of(node.properties, "simd_count") > 0; }

// location_id is bus, device and function as they stand in a request.
PciAddress address_of(const Node& node) {
  const uint64_t location = value_of(node.properties, "location_id");
  return {.domain = static_cast<uint32_t>(value_of(node.properties, "domain")),
          .bus = static_cast<uint8_t>(location >> 8 & 0xff),
          .device = static_cast<uint8_t>(location >> 3 & 0x1f),
          .function = static_cast<uint8_t>(location & 0x7)};
}

void read_banks(const Node& node, Card& card) {
  for (const auto& [path, bank] : node.banks) {
    const uint64_t heap = value_of(bank, "heap_type");
    const uint64_t size = value_of(bank, "size_in_bytes");
    if ((heap != kPublicHeap && heap != kPrivateHeap) || size == 0 || size > kAddressMax) continue;
    card.vram_bytes = size;
    if (heap == kPublicHeap) card.visible_vram_bytes = size;
  }
}

}  // namespace

std::string gfx_name(uint64_t target_version) {
  if (target_version == 0 || target_version > 999'999) return {};
  return fmt::format("gfx{}{:x}{:x}", target_version / 10'000, target_version / 100 % 100,
                     target_version % 100);
}

Kfd read_kfd(std::string_view text) {
  Kfd out;
  const auto nodes = read_nodes(text);
  for (const auto& [number, node] : nodes) {
    if (!is_gpu(node)) continue;
    Card& card = seen_at(out.cards, address_of(node)).card;
    card.in_kfd = true;
    card.gfx = gfx_name(value_of(node.properties, "gfx_target_version"));
    read_banks(node, card);
    for (const auto& [path, link] : node.peer_links) {
      const auto to = nodes.find(value_of(link, "node_to"));
      if (to == nodes.end() || !is_gpu(to->second) || to->first == number) continue;
      out.granted.push_back({address_of(node), address_of(to->second), true, {}});
    }
  }
  return out;
}

}  // namespace evener::host
