// F. The route between cards that only host bridges connect. pci-p2p.md, 1.1 and 1.3.
#include <fmt/format.h>

#include "doctor/finding.h"
#include "doctor/nvidia.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Kind = ListAnswer::Kind;

const ListAnswer& ask(const Case& c, const Card& card) { return c.list_answers.at(card.root); }

bool is_same_bridge(const Case& c, const Pair& pair) {
  return !c.is_guest && pair.path.is_known && pair.path.common == nullptr &&
         !pair.path.crosses_bridges;
}

bool is_refusal(const ListAnswer& answer) {
  return answer.kind == Kind::unmatched || answer.kind == Kind::lookup_fails;
}

std::string id_text(const host::RootBus& root) {
  return root.first.id ? to_string(*root.first.id) : "of unknown id";
}

// "host bridge 8086:6f00 is not on the list before Linux 7.4"
std::string list_text_of(const Case& c, const host::RootBus& root, const ListAnswer& answer) {
  const std::string bridge = "host bridge " + id_text(root);
  const std::string_view assumed = assumed_mark(c, "roots[0]");
  if (answer.kind == Kind::lookup_fails) {
    return fmt::format(
        "{}: the first device of root bus {} is neither at 00.0 nor a root port that "
        "this kernel looks up{}",
        bridge, root.bus, assumed);
  }
  if (answer.kind == Kind::matched && answer.by_patch) {
    return fmt::format("{} is on the list by a patch of this kernel{}", bridge, assumed);
  }
  if (answer.entry == nullptr) {
    return fmt::format("{} is not on the list in any kernel{}", bridge, assumed);
  }
  const bool is_listed = answer.kind == Kind::matched;
  return fmt::format("{} is {}on the list {} Linux {} ({}){}", bridge, is_listed ? "" : "not ",
                     is_listed ? "since" : "before", to_string(answer.entry->since),
                     answer.entry->what, assumed);
}

std::optional<Outcome> judge_zen(const Case& c, const Pair& pair) {
  const bool applies =
      !c.is_guest && pair.path.is_known && pair.path.common == nullptr && c.is_zen() == true;
  if (!applies) return {};
  Outcome result = passes("AMD's root complex forwards between its ports since Zen");
  result.finding.evidence = {
      fmt::format("{}, family {:#x}", c.facts.machine.cpu_vendor, *c.facts.machine.cpu_family)};
  return result;
}

void add_what_upstream_tested(const Case& c, const ListAnswer& answer, Finding& found) {
  if (answer.entry == nullptr) return;
  if (answer.by_patch) {
    found.says.push_back(
        fmt::format("From Linux {} the entry is upstream.", to_string(answer.entry->since)));
  }
  if (answer.entry->first_device == 0x6f00) {
    found.says.emplace_back(
        "What upstream tested: one socket, IOMMU translating, 64 MiB each way.");
    if (c.facts.machine.num_sockets.value_or(1) > 1) {
      found.says.emplace_back("Nothing is claimed there for a board with two sockets.");
    }
  }
}

std::optional<Outcome> judge_listed(const Case& c, const Pair& pair) {
  if (!is_same_bridge(c, pair) || c.is_zen() != false) return {};
  const ListAnswer& answer = ask(c, *pair.a);
  if (answer.kind != Kind::matched) return {};
  Outcome result = passes("The kernel accepts the route through this host bridge");
  result.finding.evidence = {list_text_of(c, *pair.a->root, answer),
                             "the route is through the host bridge of one socket"};
  add_what_upstream_tested(c, answer, result.finding);
  return result;
}

bool was_forced_wrongly(const Case& c) {
  const json::Value& other = c.facts.observed.other;
  return other.is_object() && other.contains("forced_entry");
}

void add_ways_out(const Case& c, const host::RootBus& root, const ListAnswer& answer,
                  Finding& found) {
  if (answer.entry != nullptr) {
    found.fixes.emplace_back("F16");
    const bool is_tested =
        answer.entry->first_device == 0x6f00 || answer.entry->first_device == 0x0c08;
    if (is_tested && answer.kind == Kind::unmatched) found.fixes.emplace_back("F17");
    return;
  }
  found.fixes = {"F08", "F29"};
  const std::string_view known = root.first.id ? known_corruption(*root.first.id) : "";
  if (!known.empty() || was_forced_wrongly(c)) {
    found.says.push_back(fmt::format(
        "Forcing the entry on this bridge was tried: data corrupted, copy reported success{}{}.",
        known.empty() ? "" : " (", known.empty() ? std::string() : std::string(known) + ")"));
    return;
  }
  if (answer.kind != Kind::unmatched) return;
  found.says.emplace_back(
      "An entry that nobody has tested can corrupt data in silence: on another bridge the copy "
      "reported success and every byte was wrong.");
  found.fixes.emplace_back("F18");
}

// The cards' ports are not known, but their host bridge is.
std::optional<Outcome> warn_of_list(const Case& c, const Pair& pair) {
  const bool applies = !c.is_guest && !pair.path.is_known && pair.asks_kernel() &&
                       c.is_zen() == false && pair.a->root != nullptr &&
                       pair.a->root == pair.b->root;
  if (!applies) return {};
  const ListAnswer& answer = ask(c, *pair.a);
  if (answer.kind != Kind::unmatched) return {};
  Outcome result =
      remarks("If the cards are on different root ports, the kernel refuses that route as well");
  result.finding.evidence = {list_text_of(c, *pair.a->root, answer)};
  result.finding.says = {
      "That is a second, independent refusal: the allow list is a gate of its own."};
  if (answer.entry != nullptr) add_ways_out(c, *pair.a->root, answer, result.finding);
  return result;
}

std::optional<Outcome> judge_unlisted(const Case& c, const Pair& pair) {
  if (auto warning = warn_of_list(c, pair)) return warning;
  if (!is_same_bridge(c, pair) || c.is_zen() != false || !pair.asks_kernel()) return {};
  const ListAnswer& answer = ask(c, *pair.a);
  if (!is_refusal(answer)) return {};
  Outcome result = blocks("The kernel's policy refuses the route through this host bridge");
  result.refuses_route = true;
  result.finding.evidence = {list_text_of(c, *pair.a->root, answer)};
  result.finding.says = {
      "Refused by policy does not mean proven impossible; amdgpu's line about the chipset says no "
      "more than this."};
  add_ways_out(c, *pair.a->root, answer, result.finding);
  return result;
}

bool is_across(const Case& c, const Pair& pair) {
  return !c.is_guest && pair.path.crosses_bridges && c.is_zen() == false;
}

bool is_one_socket(const Case& c) { return c.facts.machine.num_sockets == 1u; }

std::optional<Outcome> judge_across(const Case& c, const Pair& pair) {
  if (!is_across(c, pair)) return {};
  const ListAnswer& a = ask(c, *pair.a);
  const ListAnswer& b = ask(c, *pair.b);
  const bool both =
      a.kind == Kind::matched && b.kind == Kind::matched && !a.same_bridge && !b.same_bridge;
  if (!both) return {};
  Outcome result = degrades("The kernel accepts the route between these host bridges");
  result.finding.evidence = {list_text_of(c, *pair.a->root, a), list_text_of(c, *pair.b->root, b)};
  result.finding.says = {is_one_socket(c)
                             ? "Both belong to one socket; a switch above both cards is faster."
                             : "Traffic may cross the link between the sockets, which is slower."};
  return result;
}

// One side is enough: a bridge that is not listed, or one whose entry wants the same bridge.
bool refuses_crossing(const ListAnswer& answer) {
  return is_refusal(answer) || (answer.kind == Kind::matched && answer.same_bridge) ||
         (answer.kind == Kind::unknown && answer.entry != nullptr && answer.same_bridge);
}

bool is_seen_refused(const Case& c, const Pair& pair) {
  if (pair.peers == Observation::refused) return true;
  return pair.both(Maker::nvidia) && nvidia_reason(c, pair) == "TNS";
}

std::vector<std::string> bridges_of(const Case& c, const Pair& pair) {
  std::vector<std::string> lines;
  for (const Card* card : {pair.a, pair.b}) {
    const ListAnswer& answer = ask(c, *card);
    std::string line = fmt::format("{} is below root bus {}", card->label(), card->root->bus);
    if (answer.kind != Kind::unknown && pair.asks_kernel()) {
      line += "; " + list_text_of(c, *card->root, answer);
      if (answer.same_bridge) line += "; its entry asks for the same host bridge";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<Outcome> judge_refused_across(const Case& c, const Pair& pair) {
  if (!is_across(c, pair)) return {};
  const bool by_list = pair.asks_kernel() &&
                       (refuses_crossing(ask(c, *pair.a)) || refuses_crossing(ask(c, *pair.b)));
  if (!by_list && !is_seen_refused(c, pair)) return {};
  Outcome result =
      blocks(pair.asks_kernel()
                 ? "Refused by kernel policy: the cards are below different host bridges"
                 : "Refused by the driver's policy: the cards are below different host bridges");
  result.refuses_route = true;
  result.finding.evidence = bridges_of(c, pair);
  if (pair.peers == Observation::refused) {
    result.finding.evidence.push_back(pair.name() + ": the driver reports no peer access");
  }
  result.finding.says = {
      "Not proven impossible, but slow or broken where such traffic crosses QPI."};
  if (!is_one_socket(c)) {
    result.finding.says.emplace_back("As things are, cross-socket pairs have no peer access.");
  }
  result.finding.fixes = {"F09", "F08", "F29"};
  return result;
}

std::optional<Outcome> judge_lookup(const Case& c, const Pair& pair) {
  const bool applies =
      (is_same_bridge(c, pair) || is_across(c, pair)) && c.is_zen() == false && pair.asks_kernel();
  if (!applies) return {};
  for (const Card* card : {pair.a, pair.b}) {
    const ListAnswer& answer = ask(c, *card);
    if (answer.kind != Kind::lookup_fails) continue;
    Outcome result = blocks("The kernel cannot look up this root bus in its list");
    result.refuses_route = true;
    result.finding.evidence = {list_text_of(c, *card->root, answer)};
    const auto& kernel = c.kernel;
    if (card->root->first.is_root_port == true && kernel) {
      result.finding.says = {"Linux 5.19 and later take a root port at any place."};
      result.finding.fixes = {"F16"};
    }
    return result;
  }
  return {};
}

}  // namespace

const Rule r54{.id = "R54", .pair = judge_zen};
const Rule r55{.id = "R55", .pair = judge_listed};
const Rule r56{.id = "R56", .pair = judge_unlisted};
const Rule r57{.id = "R57", .pair = judge_across};
const Rule r58{.id = "R58", .pair = judge_refused_across};
const Rule r59{.id = "R59", .pair = judge_lookup};

}  // namespace evener::doctor
