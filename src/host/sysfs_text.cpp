#include "host/sysfs_text.h"

#include <array>
#include <utility>

#include "host/limits.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

// Bits of the third column of `resource`: include/linux/ioport.h.
constexpr uint64_t kIsMemory = 0x200;
constexpr uint64_t kPrefetchable = 0x2000;
constexpr uint64_t kIs64Bit = 0x100000;
constexpr uint64_t kDisabled = 0x10000000;
constexpr uint64_t kUnset = 0x20000000;
constexpr unsigned kNumBars = 6;
// Behind the BARs of a bridge come the ROM, on most kernels six BARs of virtual functions, and its
// windows: ports, memory, prefetchable memory, CardBus.
constexpr size_t kBridgeRowsMin = 11;

struct Resource {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t flags = 0;

  bool is_memory() const { return (flags & kIsMemory) != 0; }
  bool has_place() const {
    return (flags & (kUnset | kDisabled)) == 0 && start != 0 && end >= start && end <= kAddressMax;
  }
};

std::optional<Resource> parse_resource(std::string_view row) {
  const auto start = parse_uint(take_word(row), 16);
  const auto end = parse_uint(take_word(row), 16);
  const auto flags = parse_uint(take_word(row), 16);
  if (!start || !end || !flags) return {};
  return Resource{*start, *end, *flags};
}

void read_bar(const Resource& resource, unsigned index, Function& function) {
  if (!resource.is_memory()) return;
  Bar& bar = bar_at(function, index);
  bar.prefetchable = (resource.flags & kPrefetchable) != 0;
  bar.is_64_bit = (resource.flags & kIs64Bit) != 0;
  bar.size_bytes = 0;  // no place was found for it
  if (!resource.has_place()) return;
  bar.size_bytes = resource.end - resource.start + 1;
  bar.base = resource.start;
}

Window window_of(const Resource& resource) {
  if (!resource.is_memory() || !resource.has_place()) return {.base = {}, .size_bytes = 0};
  return {.base = resource.start, .size_bytes = resource.end - resource.start + 1};
}

void read_resources(std::string_view value, Seen& seen) {
  std::vector<Resource> rows;
  for (const std::string_view text : split(value, ';')) {
    if (const auto resource = parse_resource(text)) rows.push_back(*resource);
  }
  if (rows.size() < kNumBars) return;
  for (unsigned index = 0; index < kNumBars; ++index) read_bar(rows[index], index, seen.function);
  seen.bars_are_complete = true;
  if (rows.size() < kBridgeRowsMin) return;
  seen.function.memory = window_of(rows[rows.size() - 3]);
  seen.function.prefetchable = window_of(rows[rows.size() - 2]);
}

// The sizes that "resourceN_resize" offers, bit 0 for 1 MiB.
void read_resize(std::string_view field, std::string_view value, Function& function) {
  const auto index = leading_uint(field.substr(std::string_view("resource").size()));
  const auto sizes = parse_uint(trim(before(value, ";")), 16);
  if (!index || *index >= kNumBars || !sizes) return;
  Bar& bar = bar_at(function, static_cast<unsigned>(*index));
  bar.resizable.emplace();
  for (unsigned bit = 0; bit < 37; ++bit) {
    if ((*sizes >> bit & 1) != 0) bar.resizable->push_back(uint64_t{1} << (bit + 20));
  }
}

using Read = void (*)(std::string_view value, Seen& seen);

std::optional<uint16_t> half(std::string_view value) {
  const auto number = parse_uint(value, 16);
  if (!number || *number > 0xffff) return {};
  return static_cast<uint16_t>(*number);
}

PciId& id_in(std::optional<PciId>& id) { return id ? *id : id.emplace(); }

std::optional<IommuMode> mode_of(std::string_view type) {
  if (type == "identity") return IommuMode::identity;
  if (type.starts_with("DMA")) return IommuMode::translated;
  return {};
}

Link& link_in(Seen& seen) {
  return seen.function.link ? *seen.function.link : seen.function.link.emplace();
}

std::optional<double> gts(std::string_view value) {
  const auto speed = leading_real(value);  // "8.0 GT/s PCIe", "Unknown"
  return speed && *speed > 0 && *speed < 1000 ? speed : std::nullopt;
}

std::optional<unsigned> lanes(std::string_view value) {
  const auto width = parse_uint(value);
  if (!width || *width == 0 || *width > 32) return {};  // 255 and 0 stand for unknown
  return static_cast<unsigned>(*width);
}

template <unsigned kMax>
std::optional<unsigned> number(std::string_view value) {
  const auto read = parse_uint(value);
  if (!read || *read > kMax) return {};
  return static_cast<unsigned>(*read);
}

std::optional<uint64_t> bytes(std::string_view value) {
  const auto size = parse_uint(value);
  return size && *size <= kAddressMax ? size : std::nullopt;
}

std::optional<double> watts(std::string_view microwatts) {
  const auto value = parse_uint(microwatts);
  if (!value || *value == 0 || *value > 10'000'000'000) return {};
  return static_cast<double>(*value) / 1e6;
}

void read_class(std::string_view value, Seen& seen) {
  const auto code = parse_uint(value, 16);
  if (!code || *code > 0xffffff) return;
  seen.function.class_code = static_cast<uint32_t>(*code);
  seen.function.is_bridge = *code >> 8 == 0x0604;
}

void read_node(std::string_view value, Seen& seen) {
  if (value == "-1") seen.function.numa_node = -1;
  if (const auto node = number<65'535>(value)) seen.function.numa_node = static_cast<int>(*node);
}

void read_power_state(std::string_view value, Seen& seen) {
  if (value.starts_with("D")) seen.function.suspended = value.starts_with("D3");
}

// "RxErr 0;BadTLP 3;...;TOTAL_ERR_COR 3"
void read_errors(std::string_view value, Seen& seen) {
  if (const auto total = after(value, "TOTAL_ERR_COR ")) {
    seen.function.aer_correctable = leading_uint(*total);
  }
}

constexpr std::pair<std::string_view, Read> kFields[] = {
    {"vendor",
     [](auto v, Seen& s) {
       if (const auto n = half(v)) id_in(s.function.id).vendor = *n;
     }},
    {"device",
     [](auto v, Seen& s) {
       if (const auto n = half(v)) id_in(s.function.id).device = *n;
     }},
    {"subsystem_vendor",
     [](auto v, Seen& s) {
       if (const auto n = half(v)) id_in(s.function.subsystem).vendor = *n;
     }},
    {"subsystem_device",
     [](auto v, Seen& s) {
       if (const auto n = half(v)) id_in(s.function.subsystem).device = *n;
     }},
    {"class", read_class},
    {"numa_node", read_node},
    {"power_state", read_power_state},
    {"current_link_speed", [](auto v, Seen& s) { link_in(s).now_gts = gts(v); }},
    {"current_link_width", [](auto v, Seen& s) { link_in(s).now_width = lanes(v); }},
    {"max_link_speed", [](auto v, Seen& s) { link_in(s).max_gts = gts(v); }},
    {"max_link_width", [](auto v, Seen& s) { link_in(s).max_width = lanes(v); }},
    {"dma_mask_bits", [](auto v, Seen& s) { s.function.dma_mask_bits = number<64>(v); }},
    {"mem_info_vram_total", [](auto v, Seen& s) { s.card.vram_bytes = bytes(v); }},
    {"mem_info_vis_vram_total", [](auto v, Seen& s) { s.card.visible_vram_bytes = bytes(v); }},
    {"power1_cap", [](auto v, Seen& s) { s.card.power_limit_watts = watts(v); }},
    {"product_name", [](auto v, Seen& s) { s.card.model = clean(v); }},
    {"aer_dev_correctable", read_errors},
    {"driver", [](auto v, Seen& s) { s.function.driver = clean(v); }},
    {"slot", [](auto v, Seen& s) { s.function.slot = clean(v); }},
    {"iommu_group", [](auto v, Seen& s) { s.function.iommu_group = number<1'000'000>(v); }},
    {"iommu_type", [](auto v, Seen& s) { s.function.iommu = mode_of(v); }},
    {"path", [](auto v, Seen& s) { s.function.parent = parent_in_path(v); }},
    {"resource", read_resources},
};

void read_field(std::string_view field, std::string_view value, Seen& seen) {
  if (field.starts_with("resource") && field.ends_with("_resize")) {
    return read_resize(field, value, seen.function);
  }
  for (const auto& [name, read] : kFields) {
    if (name != field) continue;
    return read(
        name == "resource" || name == "aer_dev_correctable" ? value : trim(before(value, ";")),
        seen);
  }
}

struct Row {
  PciAddress address;
  std::string_view field;
  std::string_view value;
};

std::optional<Row> parse_row(std::string_view line) {
  const size_t slash = line.find('/');
  const size_t tab = line.find('\t');
  if (slash == std::string_view::npos || tab == std::string_view::npos || tab < slash) return {};
  const auto address = parse_pci_address(line.substr(0, slash));
  if (!address) return {};
  return Row{*address, line.substr(slash + 1, tab - slash - 1), line.substr(tab + 1)};
}

// What the whole list shows of each: no driver, and no group where there is no IOMMU.
void finish(Seen& seen) {
  Function& function = seen.function;
  if (!function.driver) function.driver = "";
  if (!function.iommu_group && !function.iommu) function.iommu = IommuMode::off;
  // Every device starts with 32 bits; only a driver's wish says what its engine can do.
  if (function.driver->empty()) function.dma_mask_bits.reset();
  if (function.link && function.suspended.value_or(false)) {
    function.link->now_gts.reset();
    function.link->now_width.reset();
  }
  if (function.link && !function.link->max_width && !function.link->now_width &&
      !function.link->max_gts) {
    function.link.reset();
  }
}

}  // namespace

bool is_sysfs_line(std::string_view line) { return parse_row(line).has_value(); }

Sightings read_sysfs(std::string_view text) {
  Sightings out;
  each_line(text, [&](std::string_view line) {
    if (const auto row = parse_row(line))
      read_field(row->field, row->value, seen_at(out, row->address));
  });
  for (auto& [address, seen] : out) {
    if (seen.function.id) finish(seen);
  }
  return out;
}

std::string parent_in_path(std::string_view path) {
  std::string parent;
  std::string last;
  for (const std::string_view part : split(trim(path), '/')) {
    if (part.starts_with("pci")) {
      if (const auto bus = canonical_bus(part.substr(3))) last = *bus;
    } else if (const auto address = parse_pci_address(part)) {
      parent = std::exchange(last, to_string(*address));
    }
  }
  return parent;
}

}  // namespace evener::host
