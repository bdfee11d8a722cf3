#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "doctor/allow_list.h"
#include "doctor/release.h"
#include "doctor/report.h"
#include "doctor/topology.h"
#include "doctor/window.h"
#include "host/facts.h"

// What the rules judge: the facts, and what follows from them without judgement.

namespace evener::doctor {

enum class Maker { unknown, amd, nvidia, intel };

// A GPU with its function in the tree.
struct Card {
  const host::Gpu* gpu = nullptr;
  const host::Function* function = nullptr;  // null: the facts name one that is not there
  Maker maker = Maker::unknown;
  WayUp way;
  // Of the way up; if that is not known, by the bus number.
  const host::RootBus* root = nullptr;

  const host::Bar* bar = nullptr;  // that shows the VRAM
  std::optional<uint64_t> bar_bytes;
  std::optional<uint64_t> bar_base;
  std::optional<uint64_t> bar_bytes_max;  // the largest that the card offers, as read
  std::optional<uint64_t> need_bytes;     // its VRAM
  std::optional<uint64_t> bar_wanted;     // the power of two that a driver asks for
  std::optional<unsigned> dma_mask_bits;
  std::optional<host::IommuMode> iommu;
  std::string_view small_bar_cause;  // "R34"; empty: the BAR is not small, or nobody knows why

  const std::string& name() const { return gpu->name; }
  // "A (Radeon Pro W7900, 0000:05:00.0)"
  std::string label() const;
  bool is_small() const;  // its BAR is known not to cover its VRAM
  bool is_large() const;  // and known to cover it
  bool has_lost_bar() const { return bar_bytes == uint64_t{0}; }
};

// Between two cards.
struct Path {
  const host::Function* common = nullptr;          // nearest port above both
  std::vector<const host::Function*> ports;        // of both ways, up to and with the common one
  bool is_known = false;                           // there is a common port, or there cannot be one
  bool crosses_bridges = false;                    // different root buses
  std::vector<const host::Function*> redirecting;  // ports that send peers to the root complex
  std::vector<const host::Function*> unread;       // ports whose ACS control decides, not known

  bool redirects() const { return !redirecting.empty(); }
};

enum class Observation { none, allowed, refused };

struct Pair {
  const Card* a = nullptr;
  const Card* b = nullptr;
  Path path;
  Observation peers = Observation::none;
  // What the rules have said up to now.
  Verdict verdict = Verdict::works;
  Route route = Route::unknown;
  std::vector<std::string> rules;
  std::vector<std::string> gaps;  // facts that are missing for a gate
  std::string because;
  bool route_refused = false;

  bool has(std::string_view rule) const;
  std::string name() const;  // "A-B"
  bool both(Maker maker) const { return a->maker == maker && b->maker == maker; }
  // Does the kernel's own test for peers decide (NVIDIA's modules do not ask it)?
  bool asks_kernel() const { return both(Maker::amd) || both(Maker::intel); }
};

struct Case {
  explicit Case(const host::HostFacts& facts);

  const host::HostFacts& facts;
  Topology topology;
  std::optional<KernelName> kernel;
  bool is_guest = false;
  std::vector<Card> cards;
  std::unordered_map<const host::Function*, const Card*> card_of;
  std::unordered_map<const host::Function*, Bridge> bridges;             // all ports above cards
  std::unordered_map<const host::RootBus*, std::optional<Room>> wanted;  // of whole root buses
  std::unordered_map<const host::RootBus*, ListAnswer> list_answers;     // of the cards' roots
  std::vector<ListPatch> patches_of_list;
  std::vector<Pair> pairs;

  // A CPU through whose root complex the kernel lets all peers talk: AMD's since Zen. Empty: which
  // CPU it is is not known.
  std::optional<bool> is_zen() const;
  bool has_passed_check() const { return facts.observed.data_check == "pass"; }
  bool has_failed_check() const;
  bool adds_windows_without_gaps() const;  // kernel 7.0.x without the cure
  bool has_headroom_series() const;
  bool is_nvidia_patched() const;
  bool logs(std::string_view words) const;
  // Was this value made up as a label? "iommu", "roots", "host.cpu_family"
  bool is_assumed(std::string_view path) const;
};

// " (assumed: the report does not say)", or nothing.
std::string_view assumed_mark(const Case& c, std::string_view path);

}  // namespace evener::doctor
