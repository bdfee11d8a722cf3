#include "host/device_ids.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/lspci_text.h"

namespace evener::host {
namespace {

constexpr uint16_t kAmd = 0x1002;
constexpr uint16_t kAmdHost = 0x1022;
constexpr uint16_t kNvidia = 0x10de;
constexpr uint16_t kIntel = 0x8086;

struct Range {
  uint16_t first;
  uint16_t last;
  std::string_view gfx;
};

// Of the cards that people run models on; single ids have first == last.
constexpr Range kGfx[] = {
    {0x66a0, 0x66af, "gfx906"},   // Vega 20: MI50, MI60, Radeon VII
    {0x67c0, 0x67df, "gfx803"},   // Polaris 10
    {0x6860, 0x687f, "gfx900"},   // Vega 10: MI25, WX 8200, Vega 56 and 64
    {0x7300, 0x730f, "gfx803"},   // Fiji
    {0x7310, 0x731f, "gfx1010"},  // Navi 10
    {0x7340, 0x734f, "gfx1012"},  // Navi 14
    {0x7360, 0x7362, "gfx1011"},  // Navi 12
    {0x7388, 0x738e, "gfx908"},   // MI100
    {0x73a0, 0x73bf, "gfx1030"},  // Navi 21: W6800, V620, RX 6800 and 6900
    {0x73c0, 0x73df, "gfx1031"},  // Navi 22
    {0x73e0, 0x73ff, "gfx1032"},  // Navi 23
    {0x7408, 0x7410, "gfx90a"},   // MI200
    {0x7420, 0x743f, "gfx1034"},  // Navi 24
    {0x7440, 0x745e, "gfx1100"},  // Navi 31: RX 7900, W7800, W7900
    {0x7460, 0x747f, "gfx1101"},  // Navi 32
    {0x7480, 0x749f, "gfx1102"},  // Navi 33
    {0x74a0, 0x74bd, "gfx942"},   // MI300
    {0x7550, 0x7551, "gfx1201"},  // Navi 48: RX 9070, R9700
    {0x7590, 0x7590, "gfx1200"},  // Navi 44
};

// AMD's processors with graphics, by device id.
constexpr uint16_t kIntegratedAmd[] = {
    0x1114, 0x13c0, 0x13fe, 0x1309, 0x1435, 0x1506, 0x150e, 0x1586, 0x15bf, 0x15c8, 0x15d8,
    0x15dd, 0x15e7, 0x1636, 0x1638, 0x163f, 0x164c, 0x164d, 0x164e, 0x1681, 0x1900, 0x1901,
};

// In names of what is not a card of its own: other parts of these makers, graphics in processors.
constexpr std::string_view kOtherNames[] = {
    "Audio",   "USB",      "UCSI",    "Bridge",    "Switch",  "Port",   "SATA",      "Ethernet",
    "Renoir",  "Lucienne", "Cezanne", "Barcelo",   "Picasso", "Raven",  "Rembrandt", "Raphael",
    "Phoenix", "Strix",    "Krackan", "Mendocino", "Granite", "Dragon", "nForce",    "MCP",
};

bool is_switch_id(PciId id) {
  constexpr PciId kPorts[] = {
      {kAmd, 0x1470},     {kAmd, 0x1471},     {kAmd, 0x1478},     {kAmd, 0x1479},
      {kAmdHost, 0x1470}, {kAmdHost, 0x1471}, {kAmdHost, 0x1478}, {kAmdHost, 0x1479},
      {kIntel, 0x4fa0},   {kIntel, 0x4fa1},   {kIntel, 0x4fa4},   {kIntel, 0xe2ff},
      {kIntel, 0xe2f0},   {kIntel, 0xe2f1},
  };
  return std::ranges::find(kPorts, id) != std::end(kPorts);
}

// A kernel log names drivers and no makers.
uint16_t vendor_of_driver(std::string_view driver) {
  if (driver == "amdgpu") return kAmd;
  if (driver == "nvidia") return kNvidia;
  return driver == "xe" ? kIntel : 0;
}

}  // namespace

uint16_t vendor_of(const Function& function) {
  if (function.id) return function.id->vendor;
  if (const auto vendor = vendor_of_name(function.description)) return *vendor;
  return vendor_of_driver(function.driver.value_or(""));
}

bool is_amd(const Function& function) { return vendor_of(function) == kAmd; }

bool is_nvidia(const Function& function) { return vendor_of(function) == kNvidia; }

bool is_switch_of_card(const Function& bridge) {
  if (bridge.id) return is_switch_id(*bridge.id);
  const std::string& name = bridge.description;
  const bool is_amd = name.find("AMD/ATI") != std::string::npos;
  return is_amd && (name.find("Port of PCI Express Switch") != std::string::npos ||
                    name.find("PCIe Bridge") != std::string::npos);
}

// Intel's sit at 00:02.0 whatever their generation; AMD's behind a bridge, so by id.
bool is_integrated_gpu(const Function& function) {
  const uint16_t vendor = vendor_of(function);
  if (vendor == kIntel) {
    return function.address &&
           *function.address == PciAddress{.domain = 0, .bus = 0, .device = 2, .function = 0};
  }
  return vendor == kAmd && function.id &&
         std::ranges::find(kIntegratedAmd, function.id->device) != std::end(kIntegratedAmd);
}

namespace {

// Where a text has no classes, as `lspci -tv` or a kernel log: what a driver of cards has, or the
// first function of a maker of cards, unless it is called something else.
bool is_gpu_by_name(const Function& function) {
  if (function.is_bridge || !function.address || function.address->function != 0) return false;
  if (vendor_of_driver(function.driver.value_or("")) != 0) return true;
  if (!is_amd(function) && !is_nvidia(function)) return false;
  return std::ranges::none_of(kOtherNames, [&](std::string_view name) {
    return function.description.find(name) != std::string::npos;
  });
}

}  // namespace

bool is_gpu(const Function& function) {
  if (is_integrated_gpu(function)) return false;
  if (!function.class_code) return is_gpu_by_name(function);
  const uint32_t base = *function.class_code >> 16;
  const uint32_t sub = *function.class_code >> 8;
  if (base != 0x03 && sub != 0x1200) return false;
  const uint16_t vendor = vendor_of(function);
  return vendor == kAmd || vendor == kNvidia || vendor == kIntel;
}

std::string_view gfx_of(PciId id) {
  if (id.vendor != kAmd) return {};
  const auto at = std::ranges::find_if(kGfx, [&](const Range& range) {
    return range.first <= id.device && id.device <= range.last;
  });
  return at == std::end(kGfx) ? std::string_view() : at->gfx;
}

std::optional<unsigned> dma_mask_of(std::string_view gfx) {
  constexpr std::pair<std::string_view, unsigned> kMasks[] = {
      {"gfx8", 40}, {"gfx90a", 48}, {"gfx94", 48}, {"gfx95", 48},
      {"gfx9", 44}, {"gfx10", 44},  {"gfx11", 44}, {"gfx12", 44},
  };
  for (const auto& [prefix, bits] : kMasks) {
    if (gfx.starts_with(prefix)) return bits;
  }
  return {};
}

std::optional<unsigned> vram_bar_of(uint16_t vendor) {
  if (vendor == kAmd) return 0;
  if (vendor == kNvidia) return 1;
  if (vendor == kIntel) return 2;
  return {};
}

}  // namespace evener::host
