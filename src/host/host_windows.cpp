#include "host/host_windows.h"

#include <optional>

#include "host/pci_address.h"

namespace evener::host {
namespace {

struct Row {
  size_t indent = 0;
  AddressRange range;
  std::string_view name;
};

// "  380000000000-383fffffffff : PCI Bus 0000:00"
std::optional<Row> parse_row(std::string_view line) {
  const size_t indent = line.find_first_not_of(' ');
  const size_t colon = line.find(" : ");
  if (indent == std::string_view::npos || colon == std::string_view::npos) return {};
  const auto range = parse_range(line.substr(0, colon));
  if (!range) return {};
  return Row{indent, *range, trim(line.substr(colon + 3))};
}

}  // namespace

bool is_iomem_line(std::string_view line) { return parse_row(line).has_value(); }

Iomem read_iomem(std::string_view text) {
  Iomem out;
  bool has_rows = false;
  bool has_addresses = false;
  constexpr size_t kOutside = std::string_view::npos;
  size_t inside = kOutside;  // indent of the bus whose contents these rows are
  each_line(text, [&](std::string_view line) {
    const auto row = parse_row(line);
    if (!row) return;
    has_rows = true;
    has_addresses = has_addresses || row->range.last != 0;
    if (inside != kOutside && row->indent > inside) return;
    inside = kOutside;
    if (!row->name.starts_with("PCI Bus ")) return;
    inside = row->indent;
    const auto bus = canonical_bus(row->name.substr(8));
    if (bus && row->range.size_bytes() > 1) out.buses[*bus].ranges.push_back(row->range);
  });
  for (auto& [bus, windows] : out.buses) windows.is_whole = true;
  out.is_hidden = has_rows && !has_addresses;
  return out;
}

}  // namespace evener::host
