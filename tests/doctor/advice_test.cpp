// Goal: advice follows from links and sizes, the sums are shown, and the kernel help is what a
// person can use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/fixes.h"
#include "doctor/machines.h"

namespace evener::doctor {
namespace {

using testing::Contains;
using testing::HasSubstr;

host::HostFacts linked_by_switch() {
  host::HostFacts facts = below_switch();
  host::Link gen4;
  gen4.max_gts = gen4.now_gts = 16.0;
  gen4.max_width = gen4.now_width = 16;
  for (const std::string name : {"leg-a", "leg-b"}) set_link(function(facts, name), gen4);
  for (const std::string name : {"A", "B"}) set_link(card(facts, name), gen4);
  return facts;
}

TEST(Advice, PeersBelowAFastSwitchMakeTensorParallelTheFirst) {
  const Report report = diagnose(linked_by_switch());
  ASSERT_FALSE(report.advice.empty());
  const ModeAdvice& best = report.advice.front();
  EXPECT_EQ(best.mode, "tensor parallel");
  EXPECT_THAT(best.arithmetic, Contains("VRAM: 24.0 + 24.0 = 48.0 GiB"));
  EXPECT_THAT(best.arithmetic, Contains(HasSubstr("31.51 GB/s raw x 0.85")));
  EXPECT_THAT(best.arithmetic, Contains(HasSubstr("1.31 GB, 0.05 s at 26.78 GB/s")));
}

TEST(Advice, WithoutPeersLayersAreSplit) {
  host::HostFacts facts = linked_by_switch();
  vram_bar(facts, "A").size_bytes = 256 * kMega;
  EXPECT_EQ(diagnose(facts).advice.front().mode, "layer split");
}

TEST(Advice, UnlikeCardsAreNotYokedTogether) {
  host::HostFacts facts = linked_by_switch();
  gpu(facts, "B").model = "Radeon AI PRO R9700";
  gpu(facts, "B").vram_bytes = 32 * kGiga;
  for (const ModeAdvice& advice : diagnose(facts).advice) EXPECT_NE(advice.mode, "tensor parallel");
}

TEST(Power, IsTheSumOfTheCardsAndTheRestWithAReserve) {
  host::HostFacts facts = below_switch();
  gpu(facts, "B").power_limit_watts = 300;
  const PowerEstimate power = diagnose(facts).power;
  EXPECT_EQ(power.cards_watts, 655.0);
  // (355 + 300 + 145 + 75) x 1.25 = 1093.75, in steps of 50
  EXPECT_EQ(power.system_watts, 1100.0);
  gpu(facts, "A").model = "some card";
  EXPECT_FALSE(diagnose(facts).power.system_watts.has_value());
}

TEST(KernelHelp, GivesThePatchTheOptionsAndTheBurnIn) {
  host::HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x6f00};
  const std::vector<std::string> help = diagnose(facts).kernel_help;
  EXPECT_THAT(help, Contains("Patch of the allow list for kernel 6.12.4 (p2p-list.patch):"));
  EXPECT_THAT(help, Contains("@@ -300,2 +300,3 @@"));
  EXPECT_THAT(help, Contains("+\t{PCI_VENDOR_ID_INTEL, 0x6f00, REQ_SAME_HOST_BRIDGE},"));
  EXPECT_THAT(help, Contains("CONFIG_HSA_AMD_P2P=y"));
  EXPECT_THAT(help, Contains("Burn-in that must pass afterwards:"));
}

TEST(KernelHelp, ABridgeThatCorruptedDataGetsNoPatch) {
  host::HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x4c43};
  EXPECT_TRUE(diagnose(facts).kernel_help.empty());
}

TEST(KernelHelp, IsEmptyWhereNothingIsToBeDone) {
  EXPECT_TRUE(diagnose(below_switch()).kernel_help.empty());
}

TEST(Fixes, AreAllThereAndEachSaysHowToSeeThatItWorked) {
  EXPECT_EQ(all_fixes().size(), 33u);
  for (const Fix& fix : all_fixes()) {
    EXPECT_EQ(find_fix(fix.id), &fix);
    EXPECT_FALSE(fix.action.empty() || fix.verify.empty()) << fix.id;
    const bool is_harmless = fix.risk <= Risk::low;
    EXPECT_TRUE(is_harmless || !fix.undo.empty()) << fix.id;
  }
  EXPECT_EQ(find_fix("F33"), nullptr);
}

}  // namespace
}  // namespace evener::doctor
