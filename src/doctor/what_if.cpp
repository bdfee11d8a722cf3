#include "doctor/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "doctor/case.h"
#include "doctor/regrow.h"
#include "doctor/wording.h"
#include "host/limits.h"

namespace evener::doctor {
namespace {

using host::Function;
using host::HostFacts;
using host::IommuMode;
using host::PortKind;

constexpr uint16_t kAcsOfKernel = 0x1d;  // what Linux asks for when an IOMMU is on
constexpr uint16_t kRedirects = 0x2c;
constexpr size_t kEditsMax = 64;

Error bad(std::string_view edit, std::string why, std::string remedy = {}) {
  return {Code::invalid_argument, "change the facts", fmt::format("'{}'", printable(edit)),
          std::move(why), std::move(remedy)};
}

// "256G", "4T", "0x8000000000"
std::optional<uint64_t> parse_size(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, base);
  if (read.ec != std::errc{}) return {};
  std::string unit = lower_case({read.ptr, static_cast<size_t>(end - read.ptr)});
  if (unit.ends_with("ib")) unit.resize(unit.size() - 2);
  static constexpr std::array<std::string_view, 5> kUnits = {"", "k", "m", "g", "t"};
  const auto* at = std::ranges::find(kUnits, std::string_view(unit));
  if (at == kUnits.end()) return {};
  const auto shift = static_cast<unsigned>(at - kUnits.begin()) * 10;
  if (value > host::kAddressMax >> shift) return {};
  return value << shift;
}

// Whatever was seen before the change was seen of another machine.
void forget_observations(HostFacts& facts) {
  json::Value kept = json::Value::object();
  const json::Value& other = facts.observed.other;
  for (const char* name : {"driver", "forced_entry"}) {
    if (other.is_object() && other.contains(name)) kept[name] = other[name];
  }
  facts.observed = {};
  facts.observed.other = std::move(kept);
  static constexpr std::array kOfWindows = {"no space", "can't assign", "was not released",
                                            "Not enough PCI", "BAR1 is 0M"};
  std::erase_if(facts.log, [](const std::string& line) {
    return std::ranges::any_of(kOfWindows, [&](const char* word) { return mentions(line, word); });
  });
}

void know(HostFacts& facts, std::string_view path) {
  std::erase_if(facts.placeholders, [&](const std::string& text) { return mentions(text, path); });
}

// The functions whose BARs show VRAM, for edits of all of them.
template <class Edit>
void each_vram_bar(HostFacts& facts, Edit edit) {
  std::vector<std::pair<size_t, size_t>> bars;
  {
    const Case c(facts);
    for (const Card& card : c.cards) {
      if (card.bar == nullptr) continue;
      bars.emplace_back(static_cast<size_t>(card.function - facts.functions.data()),
                        static_cast<size_t>(card.bar - card.function->bars.data()));
    }
  }
  for (const auto& [function, bar] : bars) edit(facts.functions[function].bars[bar]);
}

Status edit_above4g(HostFacts& facts, std::string_view value, std::string_view edit) {
  const bool on = value == "on";
  if (!on && value != "off") return bad(edit, "above4g is on or off");
  for (host::RootBus& root : facts.roots) {
    const bool has_window = root.memory_64.size_bytes.value_or(0) > 0;
    if (on && !has_window) root.memory_64 = {};
    if (!on) root.memory_64 = {.base = {}, .size_bytes = 0};
  }
  each_vram_bar(facts, [&](host::Bar& bar) {
    const bool moves = on ? bar.base.value_or(0) < 4 * kGiB : true;
    if (moves) bar.base.reset();
    if (!on && bar.size_bytes) bar.size_bytes = std::min(*bar.size_bytes, 256 * kMiB);
  });
  know(facts, "bar.");
  if (on) grow_bars(facts, Growth::lone_cards);
  return {};
}

Status edit_mmioh_base(HostFacts& facts, std::string_view value, std::string_view edit) {
  const auto base = parse_size(value);
  if (!base) return bad(edit, "is no address", "for example bios.mmioh_base=4T");
  uint64_t next = *base;
  for (host::RootBus& root : facts.roots) {
    if (root.memory_64.size_bytes == uint64_t{0}) continue;
    root.memory_64.base = next;
    next = std::min(next + root.memory_64.size_bytes.value_or(0), host::kAddressMax);
  }
  place_bars(facts);
  return {};
}

Status edit_mmioh_size(HostFacts& facts, std::string_view value, std::string_view edit) {
  const auto size = parse_size(value);
  if (!size) return bad(edit, "is no size", "for example bios.mmioh_size=256G");
  for (host::RootBus& root : facts.roots) root.memory_64.size_bytes = *size;
  grow_bars(facts, Growth::lone_cards);
  return {};
}

Status only_on(std::string_view value, std::string_view edit) {
  if (value == "on") return {};
  return bad(edit, "can only be turned on: the facts say how it is without it");
}

Status edit_rebar(HostFacts& facts, std::string_view value, std::string_view edit) {
  RETURN_IF_ERROR(only_on(value, edit));
  grow_bars(facts, Growth::all);
  return {};
}

Status edit_kernel(HostFacts& facts, std::string_view value, std::string_view edit) {
  const auto name = parse_kernel_name(value);
  if (!name) return bad(edit, "is no release of Linux", "for example kernel=7.4");
  const auto old = parse_kernel_name(facts.kernel.release);
  facts.kernel.release = value;
  facts.kernel.patches.clear();
  const bool leaves_70 =
      old && old->adds_windows_without_gaps() && !name->adds_windows_without_gaps();
  if (!leaves_70) return {};
  // Other kernels leave room between siblings, whatever size their BARs have been given.
  restore_lost_bars(facts);
  grow_bars(facts, facts.kernel.command_line.value_or("").find("realloc") != std::string::npos
                       ? Growth::all
                       : Growth::lone_cards);
  return {};
}

void turn_acs_on(HostFacts& facts) {
  for (Function& function : facts.functions) {
    if (!function.acs || !function.acs->present) continue;
    function.acs->control = static_cast<uint16_t>(function.acs->control | kAcsOfKernel);
  }
}

Status edit_iommu(HostFacts& facts, std::string_view value, std::string_view edit) {
  IommuMode mode = IommuMode::off;
  if (value == "pt" || value == "identity") {
    mode = IommuMode::identity;
  } else if (value == "translated" || value == "on") {
    mode = IommuMode::translated;
  } else if (value != "off") {
    return bad(edit, "iommu is off, pt or translated");
  }
  if (facts.iommu == IommuMode::off && mode != IommuMode::off) turn_acs_on(facts);
  facts.iommu = mode;
  for (Function& function : facts.functions) function.iommu.reset();
  know(facts, "iommu");
  return {};
}

Status edit_acs(HostFacts& facts, std::string_view value, std::string_view edit) {
  if (value != "off") return bad(edit, "can only be turned off, for all ports");
  for (Function& function : facts.functions) {
    if (!function.is_bridge) continue;
    if (!function.acs) function.acs.emplace();
    function.acs->control = static_cast<uint16_t>(function.acs->control & ~kRedirects);
  }
  return {};
}

Status edit_realloc(HostFacts& facts, std::string_view value, std::string_view edit) {
  RETURN_IF_ERROR(only_on(value, edit));
  restore_lost_bars(facts);
  size_windows_for_present_bars(facts);
  grow_bars(facts, Growth::lone_cards);
  return {};
}

Status edit_headroom(HostFacts& facts, std::string_view value, std::string_view edit) {
  RETURN_IF_ERROR(only_on(value, edit));
  facts.kernel.patches.emplace_back("PCI: Reserve prefetchable window headroom for Resizable BARs");
  restore_lost_bars(facts);
  grow_bars(facts, Growth::all_demoted);
  return {};
}

std::string full_name(std::string_view name) {
  const auto address = host::parse_pci_address(name);
  return address ? to_string(*address) : std::string(name);
}

const host::Gpu* find_card(const HostFacts& facts, std::string_view name) {
  const std::string full = full_name(name);
  const auto at = std::ranges::find_if(
      facts.gpus, [&](const host::Gpu& gpu) { return gpu.name == name || gpu.function == full; });
  return at == facts.gpus.end() ? nullptr : &*at;
}

bool is_slot(const Function& function, std::string_view place) {
  if (function.slot.empty()) return false;
  const std::string label = lower_case(function.slot);
  std::string wanted = lower_case(place);
  if (label == wanted) return true;
  if (wanted.starts_with("slot")) wanted.erase(0, 4);
  return label == wanted;
}

bool looks_down(const Function& port) {
  return port.port == PortKind::root || port.port == PortKind::switch_down;
}

// The port that a card would hang on there: by its name, or by the label of what sits in the slot.
std::string find_place(const HostFacts& facts, std::string_view place) {
  const std::string full = full_name(place);
  for (const Function& function : facts.functions) {
    if (function.name == full && function.is_bridge) return function.name;
    if (!is_slot(function, place)) continue;
    return looks_down(function) ? function.name : function.parent;
  }
  return {};
}

Function* find(HostFacts& facts, const std::string& name) {
  const auto at = std::ranges::find(facts.functions, name, &Function::name);
  return at == facts.functions.end() ? nullptr : &*at;
}

bool is_on_card(const Function& port) {
  return port.port == PortKind::card_up || port.port == PortKind::card_down;
}

// What is read of a place and does not go with the card.
void forget_place(Function& function) {
  function.numa_node.reset();
  function.iommu_group.reset();
  function.link.reset();
  function.slot.clear();
  for (host::Bar& bar : function.bars) bar.base.reset();
}

// A card with a switch of its own goes as a whole.
void move_card(HostFacts& facts, const std::string& function, const std::string& port) {
  Function* top = find(facts, function);
  for (int i = 0; top != nullptr && i < 4; ++i) {
    forget_place(*top);
    Function* above = find(facts, top->parent);
    if (above == nullptr || !is_on_card(*above)) break;
    top = above;
  }
  if (top == nullptr) return;
  top->parent = port;
}

Status edit_move(HostFacts& facts, std::string_view value, std::string_view edit) {
  bool is_card_known = false;
  for (size_t colon = value.find(':'); colon != std::string_view::npos;
       colon = value.find(':', colon + 1)) {
    const host::Gpu* card = find_card(facts, value.substr(0, colon));
    if (card == nullptr) continue;
    is_card_known = true;
    const std::string place = find_place(facts, value.substr(colon + 1));
    if (place.empty()) continue;
    move_card(facts, card->function, place);
    grow_bars(facts, Growth::lone_cards);
    return {};
  }
  Error error = bad(
      edit,
      is_card_known ? "names no port and no slot of this machine" : "names no card of this machine",
      "move=CARD:PLACE, where PLACE is a port's address or a slot's label");
  error.code = Code::not_found;
  return error;
}

struct EditKind {
  std::string_view name;
  Status (*make)(HostFacts& facts, std::string_view value, std::string_view edit);
};

constexpr EditKind kEdits[] = {
    {"bios.above4g", edit_above4g},
    {"bios.mmioh_base", edit_mmioh_base},
    {"bios.mmioh_size", edit_mmioh_size},
    {"bios.rebar", edit_rebar},
    {"kernel", edit_kernel},
    {"iommu", edit_iommu},
    {"move", edit_move},
    {"acs", edit_acs},
    {"realloc", edit_realloc},
    {"headroom", edit_headroom},
};

std::string names_of_edits() {
  std::vector<std::string> names;
  for (const EditKind& kind : kEdits) names.emplace_back(kind.name);
  return list_text(names);
}

Status make_edit(HostFacts& facts, std::string_view edit) {
  const size_t equals = edit.find('=');
  if (equals == std::string_view::npos) {
    return bad(edit, "is not NAME=VALUE", "names are " + names_of_edits());
  }
  const std::string_view name = edit.substr(0, equals);
  const auto* kind = std::ranges::find(kEdits, name, &EditKind::name);
  if (kind == std::ranges::end(kEdits)) {
    return bad(edit, "is no change that can be tried", "names are " + names_of_edits());
  }
  return kind->make(facts, edit.substr(equals + 1), edit);
}

}  // namespace

Result<HostFacts> what_if(HostFacts facts, std::string_view edits) {
  size_t num_edits = 0;
  while (!edits.empty()) {
    if (++num_edits > kEditsMax) return bad("...", fmt::format("more than {} edits", kEditsMax));
    const size_t comma = edits.find(',');
    const std::string_view edit = edits.substr(0, comma);
    if (!edit.empty()) RETURN_IF_ERROR(make_edit(facts, edit));
    edits = comma == std::string_view::npos ? "" : edits.substr(comma + 1);
  }
  if (num_edits > 0) forget_observations(facts);
  return facts;
}

}  // namespace evener::doctor
