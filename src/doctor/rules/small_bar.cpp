// D, continued: why a BAR is small. pci-p2p.md, 3.2 to 3.6. Which of these rules holds for a card
// is decided in bar_cause.cpp; here is what each says.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/bar_cause.h"
#include "doctor/boards.h"
#include "doctor/finding.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr uint64_t kLaunchBar = 256 * kMiB;  // the ceiling of cards from before Resizable BAR

std::optional<Outcome> judge_ceiling(const Case&, const Card& card) {
  if (card.small_bar_cause != "R31") return {};
  Outcome result = blocks("The card itself offers no BAR as large as its VRAM");
  result.finding.evidence = {
      fmt::format("{}: largest BAR {} is below {} VRAM: no setting changes that", card.label(),
                  size_text(*card.bar_bytes_max), size_text(*card.need_bytes))};
  // Vendors published newer VBIOS images for cards whose list ends at 256 MiB, and for no others.
  const bool has_update = *card.bar_bytes_max <= kLaunchBar && card.maker == Maker::nvidia;
  if (has_update) result.finding.fixes.emplace_back("F25");
  result.finding.fixes.emplace_back("F29");
  return result;
}

std::optional<Outcome> judge_no_window(const Case& c, const Card& card) {
  if (card.small_bar_cause != "R32") return {};
  const bool is_known = card.root != nullptr && card.root->memory_64.size_bytes == 0;
  Outcome result =
      blocks(is_known ? "There is no 64-bit host window above 4 GiB"
                      : "The VRAM BAR lies below 4 GiB: there seems to be no host window above");
  if (is_known) {
    result.finding.evidence.push_back(
        fmt::format("root bus {}: no 64-bit host window above 4 GiB", card.root->bus));
  }
  if (card.bar_base && *card.bar_base > 0) {
    result.finding.evidence.push_back(fmt::format("{}: BAR at {}{}", card.label(),
                                                  address_text(*card.bar_base),
                                                  assumed_mark(c, "bar.base")));
  }
  result.finding.says = {
      "BARs have to share the room below 4 GiB and cannot grow there.",
      "Where the firmware's option does nothing: pci=nocrs is risky, it may place BARs over other "
      "devices, and amdgpu asks for a window above 4 GiB all the same."};
  result.finding.fixes = {"F01", "F15", "F24"};
  return result;
}

std::string host_window_text(const Case& c, const Card& card) {
  const Room& room = *c.wanted.at(card.way.root);
  const uint64_t window = *card.way.root->memory_64.size_bytes;
  return fmt::format("root bus {}: window {}, needed {} for {} card{}: {} short",
                     card.way.root->bus, window_text(window), window_text(room.size),
                     room.num_cards, room.num_cards == 1 ? "" : "s",
                     window_text(room.size - window));
}

std::optional<Outcome> judge_host_window(const Case& c, const Card& card) {
  if (card.small_bar_cause != "R33") return {};
  Outcome result = blocks("The window of the host bridge is shorter than the BARs need");
  result.finding.evidence = {host_window_text(c, card)};
  result.finding.says = {"The firmware sets this window; the kernel cannot exceed it."};
  result.finding.fixes = {"F03", "F26", "F24"};
  return result;
}

// Windows that were made for the BARs of power-on: (n - 1) * 2B + B + s of 256 MiB and 2 MiB.
bool is_power_on_window(const Bridge& bridge) {
  const uint64_t n = bridge.cards.size();
  const uint64_t bar = 256 * kMiB;
  return n >= 2 && bridge.window() == (n - 1) * 2 * bar + bar + 2 * kMiB;
}

void add_window(const Bridge& bridge, Finding& found) {
  if (!bridge.is_short()) return;
  found.evidence.push_back(fmt::format("window of {}: {}, needed {}, {} short ({})",
                                       bridge.port->name, window_text(*bridge.window()),
                                       window_text(bridge.wanted->size),
                                       window_text(bridge.wanted->size - *bridge.window()),
                                       room_text(bridge.cards, *bridge.wanted)));
  if (!is_power_on_window(bridge)) return;
  add_new(
      found.says,
      fmt::format("{} is the size of {} windows of 256+2 MiB side by side, as at power-on: each "
                  "card pins the window for the other{}.",
                  window_text(*bridge.window()), count_text(bridge.cards.size()),
                  bridge.cards.size() == 2 ? "" : "s"));
}

// What would fit where, so that a change can be judged before it is made.
void add_ways_out(const Bridge& bridge, Finding& found) {
  uint64_t sum = 0;
  for (const Card* card : bridge.cards) sum += card->bar_wanted.value_or(0);
  found.evidence.push_back(
      fmt::format("with the headroom series: {} at {}; alone below a root port: {} each",
                  window_text(sum), bridge.port->name,
                  window_text(bridge.cards.front()->bar_wanted.value_or(0) +
                              small_bars(*bridge.cards.front()))));
}

void add_shared_windows(const Case& c, const Card& card, Finding& found) {
  for (const host::Function* port : card.way.ports) {
    const Bridge& bridge = c.bridges.at(port);
    if (bridge.cards.size() >= 2 && bridge.is_short()) add_window(bridge, found);
  }
  if (const Bridge* bridge = pinned_bridge(c, card)) add_ways_out(*bridge, found);
}

void add_host_window(const Case& c, const Card& card, Finding& found) {
  const host::RootBus* root = card.way.root;
  if (root == nullptr || root->memory_64.size_bytes.value_or(0) == 0) return;
  found.evidence.push_back(
      fmt::format("root window {} is enough; the window inside the switch is not (root bus {})",
                  window_text(*root->memory_64.size_bytes), root->bus));
  const auto wanted = c.wanted.find(root);
  if (wanted == c.wanted.end() || !wanted->second) return;
  found.evidence.push_back(
      fmt::format("needed on root bus {}: {}", root->bus, window_text(wanted->second->size)));
}

void add_log(const Case& c, std::string_view words, Finding& found) {
  for (const std::string& line : c.facts.log) {
    if (mentions(line, words)) add_new(found.evidence, line);
  }
}

std::vector<std::string> pinned_window_fixes(const Case& c) {
  std::vector<std::string> fixes = {"F09"};
  if (!c.has_headroom_series()) fixes.emplace_back("F19");
  if (!c.adds_windows_without_gaps()) fixes.emplace_back("F22");
  if (has_rebar_option(c.facts.machine.board)) fixes.emplace_back("F02");
  fixes.insert(fixes.end(), {"F23", "F24"});
  return fixes;
}

std::optional<Outcome> judge_pinned(const Case& c, const Card& card) {
  if (card.small_bar_cause != "R34") return {};
  Outcome result = blocks("Cards below one switch pin their shared window for each other");
  Finding& found = result.finding;
  add_shared_windows(c, card, found);
  add_host_window(c, card, found);
  add_log(c, "was not released", found);
  add_log(c, "no space", found);
  found.says.emplace_back(
      "A window that still holds another card's BAR is not released, so none of them can grow. "
      "pci=realloc alone sizes windows for the BARs of that moment: it will not help here.");
  found.fixes = pinned_window_fixes(c);
  return result;
}

// The port above the lost BAR whose window the kernel made without the gap.
const Bridge* summed_bridge(const Case& c, const Card& card) {
  for (const host::Function* port : card.way.ports) {
    const Bridge& bridge = c.bridges.at(port);
    if (bridge.cards.size() >= 2 && bridge.is_short()) return &bridge;
  }
  return nullptr;
}

std::optional<Outcome> judge_sum(const Case& c, const Card& card) {
  if (card.small_bar_cause != "R35") return {};
  Outcome result = blocks("Kernel 7.0.x made the shared window too small for the second card");
  Finding& found = result.finding;
  found.evidence = {"kernel " + c.facts.kernel.release};
  if (const Bridge* bridge = summed_bridge(c, card)) {
    found.evidence.push_back(fmt::format("window of {}: need {} for {} siblings, got {}",
                                         bridge->port->name, window_text(bridge->wanted->size),
                                         bridge->cards.size(), window_text(*bridge->window())));
  }
  found.says = {
      "It added up the siblings' windows without the gap that their alignment takes: the first "
      "card's BAR is assigned, the next finds no space. Kernels 6.x and cured 7.0 builds leave "
      "it."};
  found.fixes = {"F20"};
  return result;
}

std::optional<Outcome> judge_pin(const Case& c, const Card& card) {
  if (card.small_bar_cause != "R36") return {};
  const host::Function* pin = pin_of(c, card);
  Outcome result = blocks("Something else in the window keeps a card's BAR from growing");
  Finding& found = result.finding;
  found.evidence.push_back(fmt::format("{}: pinned by {}{}", card.label(), pin->name,
                                       pin->is_bridge ? ", a BAR of the card's own switch" : ""));
  add_log(c, "was not released", found);
  found.fixes =
      pin->is_bridge ? std::vector<std::string>{"F19"} : std::vector<std::string>{"F26", "F19"};
  if (!c.adds_windows_without_gaps()) found.fixes.emplace_back("F22");
  return result;
}

std::optional<Outcome> judge_order(const Case& c, const Card& card) {
  if (card.small_bar_cause != "R37") return {};
  Outcome result = blocks("The high window was used up before this card had its turn");
  Finding& found = result.finding;
  for (const Card& other : c.cards) {
    if (!other.bar_bytes) continue;
    found.evidence.push_back(fmt::format("{}: BAR {}{}", other.label(), size_text(*other.bar_bytes),
                                         &other == &card ? ", too small" : ""));
  }
  const auto wanted = c.wanted.find(card.way.root);
  if (wanted != c.wanted.end() && wanted->second) {
    found.evidence.push_back(fmt::format("all cards of root bus {} need {}", card.way.root->bus,
                                         window_text(wanted->second->size)));
  }
  add_log(c, "Not enough PCI address space", found);
  found.says = {
      "Others have large BARs, so there is a high window, and what uses it comes first: another "
      "large device uses the high window. Remove or move it, or make the window longer."};
  found.fixes = {"F26", "F03"};
  return result;
}

}  // namespace

const Rule r31{.id = "R31", .card = judge_ceiling, .is_cause = true};
const Rule r32{.id = "R32", .card = judge_no_window, .is_cause = true};
const Rule r33{.id = "R33", .card = judge_host_window, .is_cause = true};
const Rule r34{.id = "R34", .card = judge_pinned, .is_cause = true};
const Rule r35{.id = "R35", .card = judge_sum, .is_cause = true};
const Rule r36{.id = "R36", .card = judge_pin, .is_cause = true};
const Rule r37{.id = "R37", .card = judge_order, .is_cause = true};

}  // namespace evener::doctor
