#include "doctor/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/machines.h"

namespace evener::doctor {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Changes, OfAMachineToItselfAreNone) {
  const Changes none = changes(below_switch(), below_switch());
  EXPECT_TRUE(none.facts.empty());
  EXPECT_TRUE(none.verdicts.empty());
}

TEST(Changes, AfterAnotherKernelTheVerdictAndTheRuleAreNamed) {
  host::HostFacts before = on_root_ports();
  before.roots[0].first.id = host::PciId{0x8086, 0x6f00};
  host::HostFacts now = before;
  now.kernel.release = "7.4.1";
  const Changes found = changes(before, now);
  EXPECT_THAT(found.facts, testing::ElementsAre("kernel: 6.12.4 -> 7.4.1"));
  EXPECT_THAT(found.verdicts, Contains("A-B: blocked -> works"));
  EXPECT_THAT(found.verdicts, Contains(HasSubstr("R56 no longer applies")));
}

TEST(Changes, OfBarsWindowsAcsAndLinksAreNamed) {
  const host::HostFacts before = below_switch();
  host::HostFacts now = before;
  vram_bar(now, "A").size_bytes = 256 * kMega;
  function(now, "up").prefetchable.size_bytes = 770 * kMega;
  set_redirect(now, "leg-a", 0x0c);
  now.iommu = host::IommuMode::identity;
  const Changes found = changes(before, now);
  EXPECT_THAT(found.facts, Contains("0000:05:00.0, BAR 0: 32 GiB -> 256 MiB"));
  EXPECT_THAT(found.facts, Contains("up, window: 256 GiB -> 770 MiB"));
  EXPECT_THAT(found.facts,
              Contains("leg-a, ACS: nothing on -> request redirect, completion redirect"));
  EXPECT_THAT(found.facts, Contains("IOMMU: off -> identity"));
  EXPECT_THAT(found.verdicts, Contains("A-B: works -> blocked"));
}

TEST(Changes, CardsThatCameOrWentAreNamed) {
  host::HostFacts fewer = below_switch();
  fewer.gpus.pop_back();
  EXPECT_THAT(changes(below_switch(), fewer).facts, testing::IsEmpty())
      << "the function is still there";
  std::erase_if(fewer.functions, [](const auto& f) { return f.name == "0000:06:00.0"; });
  EXPECT_THAT(changes(below_switch(), fewer).facts, Contains("0000:06:00.0: gone"));
  EXPECT_THAT(changes(fewer, below_switch()).facts, Contains("0000:06:00.0: new"));
}

}  // namespace
}  // namespace evener::doctor
