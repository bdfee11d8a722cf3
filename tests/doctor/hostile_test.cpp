// Goal: facts that no machine has end in a report, and soon. Method: trees with cycles, unknown
// parents, ten thousand devices, absurd sizes; ctest's time limit is the clock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "doctor/changes.h"
#include "doctor/diagnose.h"
#include "doctor/machines.h"
#include "doctor/what_if.h"

namespace evener::doctor {
namespace {

using host::HostFacts;

TEST(Hostile, NoGpuAndOneGpuAreSaidInWords) {
  EXPECT_EQ(diagnose(HostFacts()).summary, "No GPU was found.");
  HostFacts facts = below_switch();
  facts.gpus.pop_back();
  vram_bar(facts, "A").size_bytes = 256 * kMega;
  const Report report = diagnose(facts);
  EXPECT_EQ(report.summary, "One GPU: there is no pair to judge.");
  EXPECT_NE(find_finding(report, "R30"), nullptr);
}

TEST(Hostile, AGpuWithoutAFunctionIsLeftAlone) {
  HostFacts facts = below_switch();
  gpu(facts, "A").function = "nowhere";
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
}

TEST(Hostile, ACycleOfPortsEnds) {
  HostFacts facts = below_switch();
  function(facts, "0000:00:02.0").parent = "leg-a";
  const Report report = diagnose(facts);
  EXPECT_EQ(report.pairs.size(), 1u);
  function(facts, "leg-a").parent = "leg-a";
  EXPECT_EQ(diagnose(facts).pairs.size(), 1u);
  card(facts, "A").parent = card(facts, "A").name;
  EXPECT_EQ(diagnose(facts).pairs.size(), 1u);
  EXPECT_TRUE(what_if(facts, "headroom=on,realloc=on,bios.mmioh_base=1T").has_value());
}

TEST(Hostile, AbsurdSizesDoNotOverflow) {
  HostFacts facts = below_switch();
  const uint64_t huge = (uint64_t{1} << 57) - 1;
  for (const std::string name : {"A", "B"}) {
    gpu(facts, name).vram_bytes = huge;
    vram_bar(facts, name).size_bytes = huge;
    vram_bar(facts, name).base = huge;
    vram_bar(facts, name).resizable = {{huge, huge, 0}};
    card(facts, name).bars[1].size_bytes = huge;
    card(facts, name).dma_mask_bits = 64;
  }
  facts.roots[0].memory_64 = {.base = huge, .size_bytes = huge};
  EXPECT_EQ(diagnose(facts).pairs.size(), 1u);
  card(facts, "A").dma_mask_bits = 0;
  facts.iommu.reset();
  EXPECT_EQ(diagnose(facts).pairs.size(), 1u);
  EXPECT_TRUE(what_if(facts, "headroom=on,bios.mmioh_base=0x1ffffffffffffff").has_value());
}

// A chain of bridges with a card on each, devices everywhere.
HostFacts ten_thousand() {
  HostFacts facts = below_switch();
  for (int i = 0; i < 10'000; ++i) {
    host::Function device;
    device.name = fmt::format("device-{}", i);
    device.is_bridge = i % 2 == 0;
    device.parent = i < 2 ? "leg-a" : fmt::format("device-{}", (i - 2) / 2 * 2);
    host::Bar bar;
    bar.size_bytes = kMega;
    bar.prefetchable = true;
    device.bars = {bar};
    facts.functions.push_back(device);
    if (i % 5 != 1) continue;
    host::Gpu extra;
    extra.name = fmt::format("X{}", i);
    extra.function = device.name;
    extra.gfx = "gfx1100";
    extra.vram_bytes = kGiga;
    facts.gpus.push_back(extra);
  }
  for (int i = 0; i < 10'000; ++i) facts.log.push_back("BAR 0: can't assign; no space");
  host::sort_functions(facts);
  return facts;
}

TEST(Hostile, TenThousandDevicesAreJudgedAndOnlySomeCardsCompared) {
  const HostFacts facts = ten_thousand();
  const Report report = diagnose(facts);
  EXPECT_EQ(report.pairs.size(), kCardsMax * (kCardsMax - 1) / 2);
  EXPECT_NE(report.summary.find("Only the first 64 cards were judged."), std::string::npos);
  EXPECT_TRUE(changes(facts, facts).facts.empty());
}

}  // namespace
}  // namespace evener::doctor
