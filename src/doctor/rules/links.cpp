// H. Links: what they run at, and what both of their ends could. pci-p2p.md, 5.2 to 5.4.
#include "doctor/links.h"

#include <fmt/format.h>

#include <algorithm>

#include "doctor/finding.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Severity = Finding::Severity;

std::string hop_text(const LinkEnds& link) {
  const auto gts = link.gts();
  const auto width = link.width();
  std::string text = fmt::format("{}: ", link.lower->name);
  if (!gts || !width) return text + "not known";
  text += fmt::format("{} ({} GT/s), {} raw", link_text(*gts, *width), *gts,
                      rate_text(raw_gb_per_s(*gts, *width)));
  if (hop_of(link).idle_reading) text += ", perhaps idle";
  if (link.is_internal) text += ", inside the card";
  return text;
}

std::optional<Outcome> list_hops(const Case&, const Card& card) {
  if (card.function == nullptr) return {};
  Outcome result = passes("Links from each card up");
  result.decides = false;
  for (const LinkEnds& link : links_of(card)) {
    if (!link.gts() && !link.width()) continue;
    result.finding.evidence.push_back(card.name() + ", " + hop_text(link));
  }
  if (const auto raw = raw_to_root(card)) {
    result.finding.evidence.push_back(
        fmt::format("{}: at the least {} raw up to the root bus", card.name(), rate_text(*raw)));
  }
  if (result.finding.evidence.empty()) return {};
  return result;
}

// Links of the card that a test holds for; the one inside it says nothing about the slot.
template <class Test>
std::vector<LinkEnds> links_that(const Card& card, Test test) {
  std::vector<LinkEnds> found;
  if (card.function == nullptr) return found;
  for (const LinkEnds& link : links_of(card)) {
    if (!link.is_internal && test(link)) found.push_back(link);
  }
  return found;
}

bool is_narrow(const LinkEnds& link) {
  return link.width() && link.width_possible() && *link.width() < *link.width_possible();
}

bool is_slow(const LinkEnds& link) {
  return link.gts() && link.gts_possible() && *link.gts() < *link.gts_possible();
}

Outcome about_links(std::string title, const std::vector<LinkEnds>& links) {
  Outcome result = outcome(Severity::warning, std::move(title), Verdict::works);
  result.decides = false;
  for (const LinkEnds& link : links) result.finding.evidence.push_back(hop_text(link));
  return result;
}

std::optional<Outcome> judge_width(const Case&, const Card& card) {
  const auto links = links_that(card, is_narrow);
  if (links.empty()) return {};
  Outcome result = about_links("A link is narrower than both of its ends", links);
  for (const LinkEnds& link : links) {
    result.finding.evidence.push_back(fmt::format("{}: x{}, both ends can x{}", link.lower->name,
                                                  *link.width(), *link.width_possible()));
    if (link.lower->aer_correctable.value_or(0) > 0) {
      result.finding.evidence.push_back(fmt::format(
          "{}: {} corrected errors counted", link.lower->name, *link.lower->aer_correctable));
    }
  }
  result.finding.says = {"Width is not lowered to save power: look at seat, riser and slot."};
  result.finding.fixes = {"F28"};
  return result;
}

std::optional<Outcome> judge_idle(const Case&, const Card& card) {
  const auto links = links_that(card, [](const LinkEnds& link) {
    return is_slow(link) && !is_narrow(link) && !link.under_load().value_or(false);
  });
  if (links.empty()) return {};
  Outcome result =
      about_links("A link was slow when nothing was copied: that may be power saving", links);
  result.finding.severity = Severity::note;
  result.finding.says = {"Read the links again under load before calling it a fault."};
  result.finding.fixes = {"F00"};
  return result;
}

std::optional<Outcome> judge_speed(const Case&, const Card& card) {
  const auto links = links_that(card, [](const LinkEnds& link) {
    return is_slow(link) && link.under_load().value_or(false);
  });
  if (links.empty()) return {};
  Outcome result = about_links("A link stays slow under load", links);
  result.finding.says = {
      "Both of its ends can do more: riser or retimer, a BIOS limit, or equalisation."};
  result.finding.fixes = {"F28"};
  return result;
}

// Root ports of Intel's chipset, and the switches that AMD's chipsets are.
bool is_chipset_port(const host::Function& port) {
  if (!port.id) return false;
  if (port.id->vendor == 0x1022) {
    const unsigned family = port.id->device & 0xff00u;
    return port.port != host::PortKind::root && (family == 0x4300 || family == 0x5700);
  }
  const bool is_intel_root = port.id->vendor == 0x8086 && port.port == host::PortKind::root;
  if (!is_intel_root || !port.address || port.address->bus != 0) return false;
  return port.address->device == 0x1b || port.address->device == 0x1c ||
         port.address->device == 0x1d;
}

std::optional<Outcome> judge_chipset(const Case& c, const Card& card) {
  if (c.is_guest) return {};
  const auto at = std::ranges::find_if(
      card.way.ports, [](const host::Function* port) { return is_chipset_port(*port); });
  if (at == card.way.ports.end()) return {};
  Outcome result = degrades("A card hangs off the chipset and shares its link to the CPU");
  result.finding.evidence = {
      fmt::format("{} is below {} ({})", card.label(), (*at)->name, to_string(*(*at)->id))};
  result.finding.fixes = {"F09"};
  return result;
}

}  // namespace

const Rule r70{.id = "R70", .card = list_hops};
const Rule r71{.id = "R71", .card = judge_width};
const Rule r72{.id = "R72", .card = judge_idle};
const Rule r73{.id = "R73", .card = judge_speed};
const Rule r74{.id = "R74", .card = judge_chipset};

}  // namespace evener::doctor
