// H, continued: what was measured, beside what the path can carry. pci-p2p.md, 5.1 and 5.5.
#include "doctor/rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "doctor/finding.h"
#include "doctor/links.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Severity = Finding::Severity;

std::string measured(const host::Observed::Rate& rate) {
  return rate.of.empty()
             ? fmt::format("{}: {}", rate.what, rate_text(rate.gb_per_s))
             : fmt::format("{} of {}: {}", rate.what, rate.of, rate_text(rate.gb_per_s));
}

void add_homeless(const Case& c, Finding& found) {
  for (const host::Function* port : homeless_links(c)) {
    const double gts = *port->link->now_gts;
    const unsigned width = *port->link->now_width;
    const double raw = raw_gb_per_s(gts, width);
    found.evidence.push_back(
        fmt::format("the reported {} hop ({:.1f} GB/s raw, place not given) cannot lie in a path "
                    "that carried more:",
                    link_text(gts, width), raw));
    for (const auto& rate : c.facts.observed.rates) {
      if (rate.gb_per_s > raw) add_new(found.evidence, measured(rate));
    }
  }
}

std::optional<Finding> judge_rates(const Case& c) {
  Finding result = finding(Severity::warning,
                           "A link reading contradicts what was measured: read links again "
                           "under load");
  add_homeless(c, result);
  for (const Comparison& one : compare_rates(c)) {
    if (!exceeds_path(one) && !falls_short(c, one)) continue;
    result.evidence.push_back(fmt::format("{}, {:.0f} % of {} raw", measured(*one.rate),
                                          100 * one.rate->gb_per_s / *one.raw_gb_per_s,
                                          rate_text(*one.raw_gb_per_s)));
  }
  if (result.evidence.empty()) return {};
  result.says = {
      "Sound copies reach 70 to 95 % of the raw rate. Outside of that one of the two is not what "
      "it seems, so no bottleneck is named here."};
  result.fixes = {"F00"};
  return result;
}

std::optional<Outcome> judge_root_rate(const Case& c, const Pair& pair) {
  if (pair.route != Route::root || c.is_guest || !has_slow_root(c)) return {};
  if (pair.verdict == Verdict::blocked) return {};
  Outcome result = remarks("Through the root complex of this CPU peers reach half of their link");
  result.finding.evidence = {"seen on Xeon E5: 0.39 to 0.52 of the link, 6 to 9 GB/s at Gen3 x16"};
  result.finding.says = {"That is no fault; only a switch above both cards gives link speed."};
  return result;
}

bool is_on_many_nodes(const Case& c) { return c.facts.machine.num_sockets.value_or(1) > 1; }

std::optional<Finding> judge_nodes(const Case& c) {
  if (!is_on_many_nodes(c) || c.is_guest) return {};
  Finding result = finding(Severity::note, "Cards belong to a NUMA node: run beside them");
  for (const Card& card : c.cards) {
    std::optional<int> node = card.function == nullptr ? std::nullopt : card.function->numa_node;
    if (!node && card.way.root != nullptr) node = card.way.root->numa_node;
    if (node.value_or(-1) < 0) continue;
    result.evidence.push_back(fmt::format("{}: node {}", card.label(), *node));
    result.gpus.push_back(card.name());
  }
  if (result.evidence.empty()) return {};
  result.says = {"Memory on another socket costs each copy the way between the sockets."};
  result.fixes = {"F32"};
  return result;
}

}  // namespace

const Rule r75{.id = "R75", .machine = judge_rates};
const Rule r76{.id = "R76", .pair = judge_root_rate};
const Rule r77{.id = "R77", .machine = judge_nodes};

}  // namespace evener::doctor
