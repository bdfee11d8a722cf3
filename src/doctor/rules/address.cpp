// E. Does each VRAM BAR lie where the peer's DMA can reach? The kernel says nothing when it does
// not: lspci looks perfect and peer access is simply absent. pci-p2p.md, 2.1 and 2.2.
#include <fmt/format.h>

#include <array>

#include "doctor/finding.h"
#include "doctor/reach.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::IommuMode;

std::string_view mode_text(std::optional<IommuMode> mode) {
  if (!mode) return "not reported";
  switch (*mode) {
    case IommuMode::off:
      return "off";
    case IommuMode::identity:
      return "identity (pass-through)";
    case IommuMode::translated:
      return "translated";
  }
  return "not reported";
}

std::string evidence(const Case& c, const Direction& way) {
  const unsigned bits = *way.source->dma_mask_bits;
  return fmt::format(
      "BAR base {} of {} ends at {}, above 2^{}: {} with a {}-bit mask cannot reach it unless the "
      "IOMMU translates; IOMMU mode: {}{}{}",
      address_text(*way.target->bar_base), way.target->label(),
      address_text(*way.target->bar_base + *way.target->bar_bytes), bits, way.source->label(), bits,
      mode_text(way.source->iommu), assumed_mark(c, "iommu"),
      c.is_assumed("dma_mask_bits") ? "; a mask is that of its generation, not read" : "");
}

bool is_blocked(Reach found, Observation peers) {
  // A refusal is what this gate would give; with the mode unknown it is the best explanation.
  return found == Reach::above || (found == Reach::mode_unknown && peers == Observation::refused);
}

std::array<Direction, 2> ways(const Pair& pair) {
  return {Direction{pair.a, pair.b}, Direction{pair.b, pair.a}};
}

std::optional<Outcome> judge_above(const Case& c, const Pair& pair) {
  if (!pair.both(Maker::amd) || c.is_guest) return {};
  Outcome result = blocks("A VRAM BAR lies above the addresses that the peer's DMA can form");
  for (const Direction& way : ways(pair)) {
    if (!is_blocked(reach(way), pair.peers)) continue;
    result.finding.evidence.push_back(evidence(c, way));
    result.finding.pairs.push_back(way.source->name() + ">" + way.target->name());
  }
  if (result.finding.evidence.empty()) return {};
  result.finding.says = {"No log line tells of this refusal.",
                         "With the base lowered, iommu=pt and the IOMMU off are fine as well."};
  result.finding.fixes = {"F04", "F05"};
  return result;
}

bool rests_on_translation(const Case& c, const Direction& way) {
  const Reach found = reach(way);
  if (found == Reach::translated) return true;
  return found == Reach::unknown && !way.target->bar_base && c.has_passed_check() &&
         way.source->iommu == IommuMode::translated;
}

std::optional<Outcome> judge_translated(const Case& c, const Pair& pair) {
  if (!pair.both(Maker::amd) || c.is_guest) return {};
  Outcome result = passes("The IOMMU translates, so the address of the BARs does not matter");
  result.finding.severity = Finding::Severity::note;
  for (const Direction& way : ways(pair)) {
    if (!rests_on_translation(c, way)) continue;
    const unsigned bits = way.source->dma_mask_bits.value_or(44);
    add_new(result.finding.says,
            fmt::format("Before moving to iommu=pt check that both BARs end below {} (2^{}): else "
                        "identity mode "
                        "removes peer access.",
                        size_text(uint64_t{1} << (bits < 64 ? bits : 63)), bits));
    result.finding.evidence.push_back(
        way.target->bar_base ? evidence(c, way)
                             : fmt::format("{}: the address of the BAR is not reported; IOMMU "
                                           "mode: translated",
                                           way.target->label()));
  }
  if (result.finding.evidence.empty()) return {};
  return result;
}

}  // namespace

const Rule r40{.id = "R40", .pair = judge_above};
const Rule r41{.id = "R41", .pair = judge_translated};

}  // namespace evener::doctor
