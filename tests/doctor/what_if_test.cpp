// Goal: changes are tried on the facts, and the rules then say what they would bring.
#include "doctor/what_if.h"

#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/machines.h"

namespace evener::doctor {
namespace {

using host::HostFacts;

Report after(const HostFacts& facts, const std::string& edits) {
  auto changed = what_if(facts, edits);
  EXPECT_TRUE(changed.has_value()) << to_string(changed.error());
  return changed ? diagnose(*changed) : Report();
}

HostFacts pinned() {
  HostFacts facts = below_switch();
  for (const std::string name : {"A", "B"}) vram_bar(facts, name).size_bytes = 256 * kMega;
  for (const std::string port : {"up", "0000:00:02.0"}) {
    function(facts, port).prefetchable.size_bytes = 770 * kMega;
  }
  for (const std::string port : {"leg-a", "leg-b"}) {
    function(facts, port).prefetchable.size_bytes = 258 * kMega;
  }
  return facts;
}

TEST(WhatIf, NothingChangesNothing) {
  const HostFacts facts = below_switch();
  EXPECT_EQ(after(facts, "").pairs.front().rules, diagnose(facts).pairs.front().rules);
}

TEST(WhatIf, TheHeadroomSeriesFreesPinnedWindowsAndReallocDoesNot) {
  EXPECT_TRUE(decides(diagnose(pinned()), "R34"));
  EXPECT_TRUE(decides(after(pinned(), "realloc=on"), "R34"));
  EXPECT_TRUE(decides(after(pinned(), "headroom=on"), "R38"));
  EXPECT_TRUE(decides(after(pinned(), "bios.rebar=on"), "R38"));
  const auto changed = what_if(pinned(), "headroom=on");
  ASSERT_TRUE(changed.has_value());
  HostFacts facts = *changed;
  EXPECT_EQ(function(facts, "up").prefetchable.size_bytes, 64 * kGiga);
  EXPECT_EQ(function(facts, "leg-a").prefetchable.size_bytes, 32 * kGiga);
}

TEST(WhatIf, NoKernelExceedsTheWindowOfTheHost) {
  HostFacts facts = pinned();
  facts.roots[0].memory_64.size_bytes = 8 * kGiga;
  EXPECT_TRUE(decides(after(facts, "headroom=on"), "R33"));
  EXPECT_TRUE(decides(after(facts, "bios.mmioh_size=256G,headroom=on"), "R38"));
}

TEST(WhatIf, ReallocOnKernel70LosesTheSecondCard) {
  HostFacts facts = pinned();
  facts.kernel.release = "7.0.3";
  EXPECT_TRUE(decides(after(facts, "realloc=on"), "R10"));
}

TEST(WhatIf, ANewerKernelListsTheBridge) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x6f00};
  EXPECT_TRUE(decides(diagnose(facts), "R56"));
  EXPECT_TRUE(decides(after(facts, "kernel=7.4"), "R55"));
  facts.kernel.patches = {"allow list entry 8086:6f00"};
  EXPECT_TRUE(decides(after(facts, "kernel=7.3"), "R56")) << "patches stay with their kernel";
}

TEST(WhatIf, LeavingKernel70GivesTheSecondCardItsBarBack) {
  HostFacts facts = below_switch();
  facts.kernel.release = "7.0.12";
  facts.kernel.command_line = "pci=realloc";
  vram_bar(facts, "B").size_bytes = 0;
  vram_bar(facts, "B").base.reset();
  facts.log = {"pci 0000:06:00.0: BAR 0: can't assign; no space"};
  EXPECT_TRUE(decides(diagnose(facts), "R35"));
  EXPECT_TRUE(decides(after(facts, "kernel=6.17.3"), "R38"));
}

TEST(WhatIf, ALowerBaseBringsBarsIntoReach) {
  HostFacts facts = on_root_ports();
  facts.roots[0].memory_64.base = uint64_t{56} << 40;
  vram_bar(facts, "A").base = uint64_t{56} << 40;
  vram_bar(facts, "B").base = (uint64_t{56} << 40) + 32 * kGiga;
  EXPECT_TRUE(decides(diagnose(facts), "R40"));
  EXPECT_FALSE(decides(after(facts, "bios.mmioh_base=4T"), "R40"));
  EXPECT_TRUE(decides(after(facts, "bios.mmioh_base=0x200000000000"), "R40"));
  EXPECT_TRUE(decides(after(facts, "iommu=translated"), "R41"));
  EXPECT_TRUE(decides(after(facts, "iommu=translated,iommu=pt"), "R40"));
}

TEST(WhatIf, AnIommuBringsRedirectAndAcsOffTakesIt) {
  HostFacts facts = below_switch();
  EXPECT_TRUE(decides(after(facts, "iommu=pt"), "R53"));
  EXPECT_TRUE(decides(after(facts, "iommu=pt,acs=off"), "R50"));
}

TEST(WhatIf, Above4gLetsLoneCardsGrow) {
  HostFacts facts = on_root_ports();
  facts.roots[0].memory_64 = {.base = {}, .size_bytes = 0};
  for (const std::string name : {"A", "B"}) {
    vram_bar(facts, name).size_bytes = 256 * kMega;
    vram_bar(facts, name).base = 0xc0000000;
  }
  EXPECT_TRUE(decides(diagnose(facts), "R32"));
  EXPECT_TRUE(decides(after(facts, "bios.above4g=on"), "R38"));
  EXPECT_TRUE(decides(after(on_root_ports(), "bios.above4g=off"), "R32"));
}

TEST(WhatIf, ACardMovesToAPortOrToASlot) {
  HostFacts facts = pinned();
  host::Function port = function(facts, "0000:00:02.0");
  port.name = "0000:00:03.0";
  port.address = host::parse_pci_address(port.name);
  port.slot = "3";
  facts.functions.push_back(port);
  host::sort_functions(facts);
  for (const char* edit : {"move=B:0000:00:03.0", "move=06:00.0:00:03.0", "move=0000:06:00.0:slot3",
                           "move=B:SLOT3", "move=B:3"}) {
    const Report report = after(facts, edit);
    EXPECT_EQ(pair_of(report).route, Route::root) << edit;
    EXPECT_TRUE(decides(report, "R56")) << edit;
    EXPECT_FALSE(decides(report, "R30")) << edit << ": each is alone now and grows";
  }
}

TEST(WhatIf, WhatWasObservedBeforeIsForgotten) {
  HostFacts facts = below_switch();
  facts.observed.data_check = "pass";
  EXPECT_TRUE(pair_of(diagnose(facts)).verified);
  EXPECT_FALSE(pair_of(after(facts, "kernel=6.13")).verified);
}

std::string message(const std::string& edits) {
  const auto changed = what_if(below_switch(), edits);
  return changed ? "" : to_string(changed.error());
}

TEST(WhatIf, WhatCannotBeTriedIsRefusedByName) {
  EXPECT_NE(message("bios.above4g").find("is not NAME=VALUE"), std::string::npos);
  EXPECT_NE(message("bios.mmioh_base=lots").find("is no address"), std::string::npos);
  EXPECT_NE(message("bios.mmioh_size=99999999999T").find("is no size"), std::string::npos);
  EXPECT_NE(message("kernel=new").find("is no release of Linux"), std::string::npos);
  EXPECT_NE(message("iommu=maybe").find("iommu is off, pt or translated"), std::string::npos);
  EXPECT_NE(message("overclock=on").find("is no change that can be tried"), std::string::npos);
  EXPECT_NE(message("headroom=off").find("can only be turned on"), std::string::npos);
  EXPECT_NE(message("move=Z:leg-a").find("names no card"), std::string::npos);
  EXPECT_NE(message("move=A:nowhere").find("names no port and no slot"), std::string::npos);
  EXPECT_EQ(message("acs=off,,kernel=7.4,"), "");
}

}  // namespace
}  // namespace evener::doctor
