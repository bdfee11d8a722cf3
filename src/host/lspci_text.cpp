#include "host/lspci_text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "host/config_space.h"
#include "host/lspci_details.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr size_t kConfigBytes = 4096;

// "40: 86 80 00 6f ..." adds its bytes if it is where the dump goes on.
class HexDump {
 public:
  bool read(std::string_view line) {
    const std::string_view text = trim(line);
    const size_t colon = text.find(": ");
    if (colon == std::string_view::npos || colon < 2 || colon > 3) return false;
    const auto offset = parse_uint(text.substr(0, colon), 16);
    const auto row = row_of(text.substr(colon + 2));
    if (!offset || row.empty()) return false;
    if (*offset == 0) bytes_.clear();
    const bool goes_on = *offset == bytes_.size() && bytes_.size() + row.size() <= kConfigBytes;
    if (goes_on) bytes_.insert(bytes_.end(), row.begin(), row.end());
    is_short_ = row.size() < 16;
    return true;
  }

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  // Was it cut? Dumps end after a whole header, the legacy space or all of it.
  bool is_cut() const {
    const size_t size = bytes_.size();
    const bool is_whole = size == 64 || size == 128 || size % 256 == 0;
    return is_short_ || !is_whole;
  }

 private:
  static std::vector<uint8_t> row_of(std::string_view text) {
    std::vector<uint8_t> row;
    while (row.size() < 17) {
      const std::string_view word = take_word(text);
      if (word.empty()) return row;
      const auto byte = word.size() == 2 ? parse_uint(word, 16) : std::nullopt;
      if (!byte) return {};
      row.push_back(static_cast<uint8_t>(*byte));
    }
    return {};
  }

  std::vector<uint8_t> bytes_;
  bool is_short_ = false;
};

struct Header {
  PciAddress address;
  std::string_view class_name;  // "VGA compatible controller [0300]", "0300"
  std::string_view rest;        // the device's name and what follows
};

// The address must be a word of its own: kernel log lines have a colon behind theirs.
std::optional<Header> header_of(std::string_view line) {
  std::string_view text = line;
  const auto address = parse_pci_address(take_word(text));
  if (!address) return {};
  text = trim(text);
  const size_t colon = text.starts_with(": ") ? 0 : text.find(": ");
  if (colon == std::string_view::npos) return {};
  return Header{*address, trim(text.substr(0, colon)), trim(text.substr(colon + 2))};
}

// "[0300]" behind a name, "0300" alone, or the name.
std::optional<uint32_t> class_of(std::string_view name) {
  const size_t open = name.rfind('[');
  const auto in_brackets =
      open == std::string_view::npos ? std::nullopt : between(name.substr(open), "[", "]");
  const auto digits = in_brackets ? *in_brackets : name;
  if (digits.size() == 4) {
    if (const auto code = parse_uint(digits, 16)) return static_cast<uint32_t>(*code << 8);
  }
  return class_of_name(trim(before(name, " [")));
}

struct VendorName {
  std::string_view text;
  uint16_t vendor;
};
constexpr std::array<VendorName, 3> kVendorNames{{
    {"NVIDIA Corporation", 0x10de},
    {"Advanced Micro Devices, Inc. [AMD/ATI]", 0x1002},
    {"Intel Corporation", 0x8086},
}};

// The last "[vvvv:dddd]" of a name, as names may hold brackets of their own.
std::optional<PciId> id_of(std::string_view name) {
  std::optional<PciId> id = parse_pci_id(before(name, " "));
  for (const std::string_view part : split(name, '[')) {
    if (const auto found = parse_pci_id(before(part, "]"))) id = found;
  }
  return id;
}

// Without " (rev 01)", " (prog-if 00 [VGA controller])" and the numbers.
std::string description_of(std::string_view rest) {
  std::string_view name = before(before(rest, " (prog-if"), " (rev ");
  const size_t open = name.rfind(" [");
  if (open != std::string_view::npos && parse_pci_id(before(name.substr(open + 2), "]"))) {
    name = name.substr(0, open);
  }
  return parse_pci_id(name) ? std::string() : clean(name);
}

std::optional<uint32_t> interface_of(std::string_view rest) {
  const auto digits = after(rest, "(prog-if ");
  const auto code = digits ? leading_uint(*digits, 16) : std::nullopt;
  if (!code || *code > 0xff) return {};
  return static_cast<uint32_t>(*code);
}

bool is_bridge_class(const Function& function) {
  return function.class_code.value_or(0) >> 8 == 0x0604;
}

template <class T>
void keep(const std::optional<T>& value, std::optional<T>& out) {
  if (value) out = value;
}

// Adds to what an earlier list said: `lspci -nn` may follow `lspci -v`.
void read_header(const Header& header, Seen& seen) {
  Function& function = seen.function;
  const auto interface = interface_of(header.rest);
  if (const auto code = class_of(header.class_name)) {
    function.class_code = *code | interface.value_or(function.class_code.value_or(0) & 0xff);
  }
  keep(id_of(header.rest), function.id);
  if (auto name = description_of(header.rest); !name.empty())
    function.description = std::move(name);
  function.is_bridge = is_bridge_class(function);
  seen.is_gone = header.rest.find("(rev ff)") != std::string_view::npos;
}

// One function's lines.
class Block {
 public:
  Block(const Header& header, Lspci& out)
      : address_(header.address), out_(&out), details_(seen_at(out.text, header.address)) {
    read_header(header, seen_at(out.text, header.address));
  }

  void read(std::string_view line) {
    if (!hex_.read(line)) details_.read(line);
  }

  void finish() {
    details_.finish();
    out_->is_cut = hex_.is_cut();
    if (!hex_.bytes().empty()) decode_config_space(hex_.bytes(), seen_at(out_->config, address_));
  }

 private:
  PciAddress address_;
  Lspci* out_;
  LspciDetails details_;
  HexDump hex_;
};

bool is_top(const PciAddress& address) { return address == PciAddress{.domain = address.domain}; }

}  // namespace

std::optional<PciAddress> lspci_header(std::string_view line) {
  const auto header = header_of(line);
  return header ? std::optional(header->address) : std::nullopt;
}

Lspci read_lspci(std::string_view text) {
  Lspci out;
  std::optional<Block> block;
  each_line(text, [&](std::string_view line) {
    if (const auto header = header_of(line)) {
      if (block) block->finish();
      block.emplace(*header, out);
      out.starts_at_the_top |= is_top(header->address);
    } else if (block) {
      block->read(line);
    }
  });
  if (block) block->finish();
  return out;
}

std::optional<uint32_t> class_of_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, uint32_t>, 16> kNames{{
      {"Host bridge", 0x060000},
      {"PCI bridge", 0x060400},
      {"ISA bridge", 0x060100},
      {"VGA compatible controller", 0x030000},
      {"3D controller", 0x030200},
      {"Display controller", 0x038000},
      {"Processing accelerators", 0x120000},
      {"Non-Volatile memory controller", 0x010800},
      {"SATA controller", 0x010600},
      {"Ethernet controller", 0x020000},
      {"Infiniband controller", 0x020700},
      {"Network controller", 0x028000},
      {"Audio device", 0x040300},
      {"USB controller", 0x0c0300},
      {"SMBus", 0x0c0500},
      {"System peripheral", 0x088000},
  }};
  const auto at = std::ranges::find(kNames, name, &std::pair<std::string_view, uint32_t>::first);
  return at == kNames.end() ? std::nullopt : std::optional(at->second);
}

std::optional<uint16_t> vendor_of_name(std::string_view name) {
  const auto at = std::ranges::find_if(
      kVendorNames, [&](const VendorName& known) { return name.starts_with(known.text); });
  return at == kVendorNames.end() ? std::nullopt : std::optional(at->vendor);
}

}  // namespace evener::host
