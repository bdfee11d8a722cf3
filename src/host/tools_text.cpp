#include "host/tools_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/limits.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr size_t kCardsMax = 64;

// nvidia-smi underlines its heads, in files too.
std::string without_escapes(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      out += line[at];
      continue;
    }
    at = std::min(line.find('m', at), line.size() - 1);
  }
  return out;
}

// "GPU3" is 3.
std::optional<size_t> gpu_number(std::string_view word) {
  if (!word.starts_with("GPU")) return {};
  const auto number = parse_uint(word.substr(3));
  if (!number || *number >= kCardsMax) return {};
  return static_cast<size_t>(*number);
}

// How many columns of a head are cards: "GPU0 GPU1 CPU Affinity" has 2.
size_t num_gpu_columns(const std::vector<std::string_view>& head) {
  size_t count = 0;
  while (count < head.size() && gpu_number(head[count]) == count) ++count;
  return count;
}

// Tables with a row "GPU0 X PHB ..." for each card.
class GpuTables {
 public:
  GpuTables(const CardOrder& order, Tools& out) : order_(&order), out_(&out) {}

  void read(std::string_view line) {
    const auto cells = words(line);
    if (cells.empty()) return;
    const size_t columns = num_gpu_columns(cells);
    const bool is_row = columns_ > 0 && gpu_number(cells.front()) && cells.size() > columns_ &&
                        !gpu_number(cells[1]);
    if (is_row) return read_row(*gpu_number(cells.front()), cells);
    if (columns >= 2) {
      columns_ = columns;
    } else if (line.find("===") != std::string_view::npos) {
      title_ = line;
      columns_ = 0;
    }
  }

 private:
  void read_row(size_t from, const std::vector<std::string_view>& cells) {
    for (size_t to = 0; to < columns_; ++to) {
      if (to != from) read_cell(from, to, cells[to + 1]);
    }
  }

  void read_cell(size_t from, size_t to, std::string_view word) {
    constexpr std::string_view kGrants[] = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};
    constexpr std::string_view kNearness[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    const auto is_in = [&](const auto& list) {
      return std::ranges::find(list, word) != std::end(list);
    };
    if (is_in(kGrants)) {
      add_peer(order_->nvidia, from, to, word == "OK", word);
    } else if (is_in(kNearness) || word.starts_with("NV")) {
      add_topology(from, to, word);
    } else if ((word == "True" || word == "False") && (title_.find("ccess") != std::string::npos)) {
      add_peer(order_->amd, from, to, word == "True", {});
    }
  }

  bool has(const std::vector<PciAddress>& cards, size_t a, size_t b) {
    if (std::max(a, b) < cards.size() && cards.size() == columns_) return true;
    if (out_->unclear.empty()) {
      out_->unclear.push_back(fmt::format(
          "a tool's table has {} cards and the machine {} of that maker: the table is left out",
          columns_, cards.size()));
    }
    return false;
  }

  void add_peer(const std::vector<PciAddress>& cards, size_t from, size_t to, bool allowed,
                std::string_view reason) {
    if (!has(cards, from, to)) return;
    out_->peers.push_back({cards[from], cards[to], allowed, std::string(reason)});
  }

  void add_topology(size_t from, size_t to, std::string_view word) {
    if (from > to || !has(order_->nvidia, from, to)) return;
    out_->topology.push_back({order_->nvidia[from], order_->nvidia[to], std::string(word)});
  }

  const CardOrder* order_;
  Tools* out_;
  std::string title_;
  size_t columns_ = 0;
};

// "07:0.0" of rocm_bandwidth_test: a device number without its first 0.
std::optional<PciAddress> short_address(std::string_view text) {
  if (const auto address = parse_pci_address(text)) return address;
  const size_t dot = text.rfind('.');
  const size_t colon = text.rfind(':');
  if (dot == std::string_view::npos || colon == std::string_view::npos || dot != colon + 2)
    return {};
  return parse_pci_address(std::string(text.substr(0, colon + 1)) + "0" +
                           std::string(text.substr(colon + 1)));
}

// "pciBusID: 82, pciDeviceID: 0, pciDomainID:0", hexadecimal.
std::optional<PciAddress> cuda_address(std::string_view line) {
  const auto bus = after(line, "pciBusID: ");
  const auto device = after(line, "pciDeviceID: ");
  const auto domain = after(line, "pciDomainID:");
  if (!bus || !device || !domain) return {};
  const auto b = leading_uint(*bus, 16);
  const auto d = leading_uint(*device, 16);
  const auto top = leading_uint(trim(*domain), 16);
  if (!b || *b > 0xff || !d || *d > 31 || !top || *top > 0xffffffff) return {};
  return PciAddress{.domain = static_cast<uint32_t>(*top),
                    .bus = static_cast<uint8_t>(*b),
                    .device = static_cast<uint8_t>(*d),
                    .function = 0};
}

// Tables with the head "D/D 0 1 2" or "D\D 0 1 2", whose devices were listed before.
class DeviceTables {
 public:
  explicit DeviceTables(Tools& out) : out_(&out) {}

  void read(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.starts_with("Device: ")) return read_device(text);
    auto cells = words(text);
    if (cells.empty()) return;
    if (cells.front() == "D/D" || cells.front() == "D\\D") {
      columns_ = cells.size() - 1;
      return;
    }
    const auto row = parse_uint(cells.front());
    if (columns_ > 0 && row && cells.size() == columns_ + 1) return read_row(*row, cells);
    title_ = text;
    columns_ = 0;
  }

 private:
  void read_device(std::string_view text) {
    const auto number = leading_uint(text.substr(8));
    if (!number || *number >= kCardsMax) return;
    auto address = cuda_address(text);
    if (!address) address = short_address(trim(text.substr(text.rfind(',') + 1)));
    devices_[*number] = address;
  }

  void read_row(uint64_t from, const std::vector<std::string_view>& cells) {
    for (uint64_t to = 0; to < columns_; ++to) {
      const auto a = devices_.find(from);
      const auto b = devices_.find(to);
      if (a == devices_.end() || b == devices_.end() || from == to) continue;
      read_cell(a->second, b->second, cells[to + 1]);
    }
  }

  void read_cell(const std::optional<PciAddress>& from, const std::optional<PciAddress>& to,
                 std::string_view cell) {
    const bool is_access = title_.find("Device Access") != std::string::npos ||
                           title_.find("Connectivity Matrix") != std::string::npos;
    if (is_access && from && to && (cell == "0" || cell == "1")) {
      out_->peers.push_back({*from, *to, cell == "1", {}});
    }
    const bool is_rate =
        title_.starts_with("Unidirectional") && title_.find("P2P=Disabled") == std::string::npos;
    const auto rate = is_rate ? leading_real(cell) : std::nullopt;
    if (!rate || (!from && !to)) return;
    if (!from) out_->rates.push_back({"h2d_gbs", *to, {}, *rate});
    if (!to) out_->rates.push_back({"d2h_gbs", *from, {}, *rate});
    if (from && to) out_->rates.push_back({"peer_copy_gbs", *from, to, *rate});
  }

  Tools* out_;
  std::map<uint64_t, std::optional<PciAddress>> devices_;  // without an address: the processor
  std::string title_;
  size_t columns_ = 0;
};

}  // namespace

void read_tools(std::string_view text, const CardOrder& order, Tools& out) {
  GpuTables gpus(order, out);
  DeviceTables devices(out);
  each_line(text, [&](std::string_view line) {
    const std::string plain = without_escapes(line);
    gpus.read(plain);
    devices.read(plain);
  });
}

void read_nvidia_query(std::string_view text, Sightings& out) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  each_line(text, [&](std::string_view line) {
    const auto cells = split(line, ',');
    if (cells.size() < 4) return;
    const auto address = parse_pci_address(trim(cells[0]));
    if (!address) return;
    Seen& seen = seen_at(out, *address);
    seen.card.model = clean(trim(cells[1]));
    const auto memory = leading_uint(trim(cells[2]));
    if (memory && *memory <= kAddressMax / kMiB) seen.card.vram_bytes = *memory * kMiB;
    seen.card.power_limit_watts = leading_real(trim(cells[3]));
    seen.function.driver = "nvidia";
  });
}

}  // namespace evener::host
