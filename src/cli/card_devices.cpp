#include "cli/card_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "device/device_memory.h"
#include "device/vulkan/card_facts.h"
#include "device/vulkan/instance.h"
#include "device/vulkan/named_adapter.h"
#include "doctor/links.h"
#include "host/read_facts.h"

namespace evener::cli {
namespace {

using device::vulkan::Adapter;
using host::Function;
using host::PortKind;

// A card with a switch of its own shows the link inside it at its graphics function; the slot's is
// that of the outermost port on the card.
const Function& outermost_port(const Function& function, const host::Ancestors& above) {
  const Function* outermost = &function;
  for (const Function* port : above.ports) {
    if (port->port != PortKind::card_up && port->port != PortKind::card_down) break;
    outermost = port;
  }
  return *outermost;
}

void print_row(std::string_view what, std::string_view text) {
  fmt::print("         {:<11} {}\n", what, text);
}

std::string seat_text(const ListedCard& card) {
  std::string text = card.adapter.pci_address;
  if (!card.seat.slot.empty()) text += ", slot " + printable(card.seat.slot, 40);
  if (card.seat.numa_node) text += fmt::format(", NUMA node {}", *card.seat.numa_node);
  return text;
}

// "Gen1 x16 now, Gen4 x16 at most": an idle card slows its link down.
std::string link_text(const std::optional<host::Link>& link) {
  if (!link) return {};
  std::string now;
  std::string most;
  if (link->now_gts && link->now_width) now = doctor::link_text(*link->now_gts, *link->now_width);
  if (link->max_gts && link->max_width) most = doctor::link_text(*link->max_gts, *link->max_width);
  if (now.empty() || now == most) return most;
  return most.empty() ? now : now + " now, " + most + " at most";
}

std::string reach_text(const Adapter& adapter) {
  if (adapter.host_visible_bytes == 0) return "the host reaches none of it";
  if (adapter.has_all_memory_in_bar()) return "the host reaches all of it";
  return fmt::format("the host reaches {} of it (`evener doctor` on how to have all)",
                     bytes_text(adapter.host_visible_bytes));
}

std::string memory_text(const ListedCard& card) {
  std::string text = bytes_text(card.adapter.memory_bytes);
  if (card.usable_bytes > 0) text += ", " + bytes_text(card.usable_bytes) + " free for a model";
  if (card.drives_display) text += " beside a display";
  return card.adapter.is_software() ? text + ", the host's"
                                    : text + "; " + reach_text(card.adapter);
}

std::string abilities_text(const Adapter& adapter) {
  std::string text = fmt::format("in subgroups of {}", adapter.subgroup_size);
  if (adapter.subgroup_size_min < adapter.subgroup_size_max) {
    text += fmt::format(" ({} to {})", adapter.subgroup_size_min, adapter.subgroup_size_max);
  }
  const auto add = [&](bool has, std::string_view what) {
    text += fmt::format(", {}{}", has ? "" : "no ", what);
  };
  add(adapter.has_fp16, "fp16");
  add(adapter.has_int8_dot, "int8 dot product");
  add(adapter.has_cooperative_matrix, "cooperative matrix");
  add(adapter.has_timeline_semaphore, "timeline semaphore");
  return text;
}

std::string sharing_text(const Adapter& adapter) {
  std::vector<std::string_view> ways;
  if (adapter.shares_memory_by_fd) ways.emplace_back("by file descriptor");
  if (adapter.shares_memory_as_dma_buf) ways.emplace_back("as dma-buf");
  if (adapter.takes_host_memory) ways.emplace_back("pages of the host");
  return ways.empty() ? "no memory" : fmt::format("memory {}", fmt::join(ways, ", "));
}

ListedCard describe(const Adapter& adapter, const Result<host::HostFacts>& facts) {
  ListedCard card{.name = device::vulkan::place_of(adapter), .adapter = adapter, .seat = {}};
  if (const auto memory = device::device_memory(card.name)) card.usable_bytes = memory->free_bytes;
  card.drives_display = device::vulkan::read_card_facts(adapter.pci_address).drives_display;
  if (facts) card.seat = seat_of(*facts, adapter.pci_address);
  return card;
}

}  // namespace

CardSeat seat_of(const host::HostFacts& facts, const std::string& pci_address) {
  const Function* const function = host::find_function(facts, pci_address);
  if (function == nullptr) return {};
  const host::Ancestors above = host::ancestors(facts, pci_address);
  CardSeat seat{.slot = function->slot, .numa_node = function->numa_node};
  for (const Function* port : above.ports) {
    if (seat.slot.empty()) seat.slot = port->slot;
  }
  const Function& outermost = outermost_port(*function, above);
  if (!outermost.suspended.value_or(false)) seat.link = outermost.link;
  return seat;
}

ListedCards list_cards() {
  const auto instance = device::vulkan::Instance::get();
  if (!instance) {
    const Error& error = instance.error();
    return {.cards = {}, .why_none = error.why + "; " + error.remedy};
  }
  const std::vector<Adapter>& adapters = (*instance)->adapters();
  const bool has_seats = std::ranges::any_of(
      adapters, [](const Adapter& adapter) { return !adapter.pci_address.empty(); });
  // Reading the machine takes a while.
  const Result<host::HostFacts> facts = has_seats ? host::read_live() : host::HostFacts();
  ListedCards listed;
  for (const Adapter& adapter : adapters) listed.cards.push_back(describe(adapter, facts));
  return listed;
}

void print_card(const ListedCard& card) {
  const Adapter& adapter = card.adapter;
  fmt::print("{:<8} {}\n", card.name, adapter.name);
  print_row("kind", adapter.is_software() ? "software: it computes on the CPU, slower than cpu:0, "
                                            "and only when it is named"
                                          : to_string(adapter.kind));
  print_row("driver", fmt::format("{}; Vulkan {}", adapter.driver, adapter.version));
  if (!adapter.pci_address.empty()) print_row("at", seat_text(card));
  if (const std::string link = link_text(card.seat.link); !link.empty()) print_row("link", link);
  print_row("memory", memory_text(card));
  print_row("computes", abilities_text(adapter));
  print_row("shares", sharing_text(adapter));
  if (adapter.missing.empty()) return;
  print_row("cannot be used: it lacks", fmt::to_string(fmt::join(adapter.missing, ", ")));
}

nlohmann::ordered_json json_of(const ListedCard& card) {
  const Adapter& adapter = card.adapter;
  nlohmann::ordered_json object = {{"name", card.name},
                                   {"kind", "vulkan"},
                                   {"model", adapter.name},
                                   {"adapter_kind", to_string(adapter.kind)},
                                   {"driver", adapter.driver},
                                   {"vulkan", adapter.version},
                                   {"vendor_id", adapter.vendor_id},
                                   {"device_id", adapter.device_id},
                                   {"memory_bytes", adapter.memory_bytes},
                                   {"memory_usable_bytes", card.usable_bytes},
                                   {"host_visible_bytes", adapter.host_visible_bytes},
                                   {"allocation_bytes_max", adapter.allocation_bytes_max},
                                   {"drives_display", card.drives_display},
                                   {"subgroup_size", adapter.subgroup_size},
                                   {"subgroup_size_min", adapter.subgroup_size_min},
                                   {"subgroup_size_max", adapter.subgroup_size_max},
                                   {"fp16", adapter.has_fp16},
                                   {"int8_dot", adapter.has_int8_dot},
                                   {"cooperative_matrix", adapter.has_cooperative_matrix},
                                   {"timeline_semaphore", adapter.has_timeline_semaphore},
                                   {"shares_memory_by_fd", adapter.shares_memory_by_fd},
                                   {"shares_memory_as_dma_buf", adapter.shares_memory_as_dma_buf},
                                   {"takes_host_memory", adapter.takes_host_memory},
                                   {"missing", adapter.missing}};
  if (adapter.free_bytes) object["memory_free_bytes"] = *adapter.free_bytes;
  if (adapter.pci_address.empty()) return object;
  object["pci_address"] = adapter.pci_address;
  if (!card.seat.slot.empty()) object["slot"] = printable(card.seat.slot);
  if (card.seat.numa_node) object["numa_node"] = *card.seat.numa_node;
  if (!card.seat.link) return object;
  const host::Link& link = *card.seat.link;
  if (link.now_gts) object["link_gts"] = *link.now_gts;
  if (link.now_width) object["link_width"] = *link.now_width;
  if (link.max_gts) object["link_gts_max"] = *link.max_gts;
  if (link.max_width) object["link_width_max"] = *link.max_width;
  return object;
}

std::vector<std::string> names_of_cards() {
  std::vector<std::string> names;
  const auto instance = device::vulkan::Instance::get();
  if (!instance) return names;
  std::vector<std::string> others;  // part of a processor, say
  for (const Adapter& adapter : (*instance)->adapters()) {
    if (adapter.is_software() || !adapter.missing.empty()) continue;
    const bool is_card = adapter.kind == device::vulkan::AdapterKind::discrete;
    (is_card ? names : others).push_back(device::vulkan::place_of(adapter));
  }
  return names.empty() ? others : names;
}

}  // namespace evener::cli
