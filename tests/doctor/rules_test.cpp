// Goal: each rule fires where its condition holds and is silent where it just does not. Method: a
// machine on which all gates pass, and one thing changed.
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/machines.h"
#include "doctor/report_words.h"

namespace evener::doctor {
namespace {

using host::HostFacts;
using host::IommuMode;
using Severity = Finding::Severity;

constexpr uint16_t kRedirect = 0x1d;

bool says(const Report& report, const std::string& words) {
  return words_of(report).find(words) != std::string::npos;
}

bool offers(const Report& report, const std::string& fix) {
  return std::ranges::find(report.fixes, fix) != report.fixes.end();
}

TEST(Pairs, BelowOneSwitchWithoutRedirectTheyAreAllowedAndNotVerified) {
  const Report report = diagnose(below_switch());
  EXPECT_EQ(pair_of(report).verdict, Verdict::works);
  EXPECT_FALSE(pair_of(report).verified);
  EXPECT_EQ(pair_of(report).route, Route::same_switch);
  EXPECT_EQ(pair_of(report).rules, (std::vector<std::string>{"R38", "R50", "R80"}));
  EXPECT_EQ(report.fixes, std::vector<std::string>{"F30"});
}

TEST(Pairs, OnRootPortsOfAListedBridgeTheyAreAllowed) {
  const Report report = diagnose(on_root_ports());
  EXPECT_EQ(pair_of(report).rules, (std::vector<std::string>{"R38", "R55", "R80"}));
  EXPECT_EQ(pair_of(report).verdict, Verdict::works);
  EXPECT_EQ(pair_of(report).route, Route::root);
}

TEST(R01, AMissingFactIsNamedAndLeavesThePairUnknown) {
  HostFacts facts = below_switch();
  function(facts, "leg-a").acs.reset();
  facts.missing = {{"ACS control of leg-a", "lspci.txt stops at 64 bytes", "capture as root"}};
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R01"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::unknown);
  EXPECT_TRUE(says(report, "acs control of leg-a: lspci.txt stops at 64 bytes"));
  EXPECT_TRUE(offers(report, "F00"));
}

TEST(R01, AMissingFactThatDecidesNothingIsOnlyANote) {
  HostFacts facts = below_switch();
  facts.missing = {{"iomem.txt", "not captured", "capture as root"}};
  const Report report = diagnose(facts);
  EXPECT_FALSE(decides(report, "R01"));
  EXPECT_EQ(find_finding(report, "R01")->severity, Severity::note);
  EXPECT_EQ(pair_of(report).verdict, Verdict::works);
}

TEST(R02, InAGuestNothingIsSaidOfBarsAddressesAndRoutes) {
  HostFacts facts = below_switch();
  facts.machine.guest = true;
  vram_bar(facts, "A").size_bytes = 256 * kMega;
  vram_bar(facts, "B").base = uint64_t{1} << 46;
  const Report report = diagnose(facts);
  EXPECT_EQ(pair_of(report).rules, std::vector<std::string>{"R02"});
  EXPECT_EQ(pair_of(report).verdict, Verdict::unknown);
  EXPECT_EQ(pair_of(report).route, Route::unknown);
}

TEST(R02, TheEmulatedBridgeGivesAGuestAway) {
  HostFacts facts = nvidia_pair();
  facts.roots[0].first.id = host::PciId{0x8086, 0x29c0};
  facts.observed.peers = {{"A", "B", false, "CNS"}};
  const Report report = diagnose(facts);
  EXPECT_EQ(pair_of(report).rules, std::vector<std::string>{"R02"});
  EXPECT_EQ(pair_of(report).verdict, Verdict::blocked);
}

TEST(R03, ACommaInAListOfDevicesIsFoundAndSemicolonsAreNot) {
  HostFacts facts = below_switch();
  facts.kernel.command_line = "pci=disable_acs_redir=0000:00:02.0,0000:00:03.0 iommu=pt";
  EXPECT_NE(find_finding(diagnose(facts), "R03"), nullptr);
  facts.kernel.command_line = "pci=disable_acs_redir=0000:00:02.0;0000:00:03.0,realloc";
  EXPECT_EQ(find_finding(diagnose(facts), "R03"), nullptr);
}

TEST(R03, NoacsAndWhatTheKernelDidNotKnowAreFound) {
  HostFacts facts = below_switch();
  facts.kernel.command_line = "pci=noacs";
  EXPECT_NE(find_finding(diagnose(facts), "R03"), nullptr);
  facts.kernel.command_line = "pci=realloc";
  EXPECT_EQ(find_finding(diagnose(facts), "R03"), nullptr);
  facts.kernel.unknown_options = {"PCI: Unknown option `noacs'"};
  EXPECT_TRUE(offers(diagnose(facts), "F12"));
}

TEST(R04, Kernel70IsNotedOnlyForSiblingsAndWithoutTheCure) {
  HostFacts facts = below_switch();
  facts.kernel.release = "7.0.3";
  EXPECT_NE(find_finding(diagnose(facts), "R04"), nullptr);
  facts.kernel.release = "7.1";
  EXPECT_EQ(find_finding(diagnose(facts), "R04"), nullptr);
  facts.kernel.release = "7.0.3";
  facts.kernel.patches = {"bridge window size: keep the gap of alignment"};
  EXPECT_EQ(find_finding(diagnose(facts), "R04"), nullptr);
  HostFacts apart = on_root_ports();
  apart.kernel.release = "7.0.3";
  EXPECT_EQ(find_finding(diagnose(apart), "R04"), nullptr);
}

TEST(R10, ALostBarBlocksAllPairsOfTheCard) {
  HostFacts facts = below_switch();
  vram_bar(facts, "B").size_bytes = 0;
  vram_bar(facts, "B").base.reset();
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R10"));
  EXPECT_FALSE(decides(report, "R35"));
  EXPECT_FALSE(decides(report, "R30"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::blocked);
  EXPECT_TRUE(says(report, "do not bind amdgpu to a device without bar 0"));
}

TEST(R10, ALineOfAnotherDeviceIsNotHeldAgainstTheCard) {
  HostFacts facts = below_switch();
  facts.log = {"pci 0000:09:00.0: BAR 0 [mem size 0x1000]: can't assign; no space"};
  EXPECT_FALSE(decides(diagnose(facts), "R10"));
}

TEST(R11, AtomicsThatTheSlotDoesNotRouteBlockTheCard) {
  HostFacts facts = below_switch();
  gpu(facts, "A").in_kfd = false;
  facts.log = {"kfd kfd: amdgpu: skipped device 1002:744c, PCI rejects atomics 100<509"};
  EXPECT_TRUE(decides(diagnose(facts), "R11"));
  facts.log = {"kfd kfd: amdgpu: skipped device 1002:aaaa, PCI rejects atomics 100<509"};
  EXPECT_FALSE(decides(diagnose(facts), "R11"));
  function(facts, "up").atomics.emplace().routing = false;
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R11"));
  EXPECT_TRUE(says(report, "first port upward without atomic routing: up"));
}

TEST(R12, ACardWithoutDriverOrInAGuestsHandsIsUnknown) {
  HostFacts facts = below_switch();
  card(facts, "A").driver = "vfio-pci";
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
  EXPECT_TRUE(decides(diagnose(facts), "R12"));
  card(facts, "A").driver = "";
  EXPECT_TRUE(decides(diagnose(facts), "R12"));
  card(facts, "A").driver.reset();
  EXPECT_FALSE(decides(diagnose(facts), "R12"));
}

TEST(R20, ABuildWithoutPeersBlocksAmdCards) {
  HostFacts facts = below_switch();
  facts.kernel.config[1].value = "n";
  EXPECT_TRUE(decides(diagnose(facts), "R20"));
  EXPECT_TRUE(offers(diagnose(facts), "F21"));
  facts.kernel.config[1].value = "y";
  facts.kernel.module_parameters = {{"amdgpu.pcie_p2p", "N"}};
  EXPECT_TRUE(decides(diagnose(facts), "R20"));
  facts.kernel.module_parameters = {{"amdgpu.pcie_p2p", "Y"}};
  EXPECT_FALSE(decides(diagnose(facts), "R20"));
}

TEST(R20, KernelsBefore60HaveNoPeersUnlessTheyRunRocmsDriver) {
  HostFacts facts = below_switch();
  facts.kernel.release = "5.19.17";
  EXPECT_TRUE(decides(diagnose(facts), "R20"));
  facts.kernel.module_parameters = {{"amdgpu.version", "6.3.6"}};
  EXPECT_FALSE(decides(diagnose(facts), "R20"));
  facts.kernel.module_parameters.clear();
  facts.kernel.release = "5.15.0-101-generic";
  EXPECT_FALSE(decides(diagnose(facts), "R20"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
}

TEST(R21, StockDriverRefusesGeForce40ByPolicy) {
  HostFacts facts = nvidia_pair();
  for (const std::string name : {"A", "B"}) gpu(facts, name).model = "NVIDIA GeForce RTX 4090";
  facts.observed.peers = {{"A", "B", false, "GNS"}};
  EXPECT_TRUE(decides(diagnose(facts), "R21"));
  facts.observed.other = {{"driver", "patched open module"}};
  EXPECT_FALSE(decides(diagnose(facts), "R21"));
  facts.observed.other = json::Value::object();
  for (const std::string name : {"A", "B"}) gpu(facts, name).model = "NVIDIA RTX A6000";
  EXPECT_FALSE(decides(diagnose(facts), "R21"));
}

TEST(R22, AChipsetThatNvidiaDoesNotKnowBlocksOnBareMetal) {
  HostFacts facts = nvidia_pair();
  facts.observed.peers = {{"A", "B", false, "CNS"}};
  EXPECT_TRUE(decides(diagnose(facts), "R22"));
  facts.observed.peers = {{"A", "B", false, "NS"}};
  EXPECT_FALSE(decides(diagnose(facts), "R22"));
}

TEST(Nvidia, GrantedPeersAreAllowedAndWithoutTheDriversWordNothingIsKnown) {
  HostFacts facts = nvidia_pair();
  EXPECT_EQ(pair_of(diagnose(facts)).rules, (std::vector<std::string>{"R54", "R80"}));
  facts.observed.peers.clear();
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
  EXPECT_TRUE(says(diagnose(facts), "nvidia-smi topo -p2p r"));
}

TEST(Nvidia, TheKernelsListIsNotAsked) {
  HostFacts facts = nvidia_pair();
  facts.machine.cpu_vendor = "GenuineIntel";
  facts.machine.cpu_family = 6;
  facts.roots[0].first.id = host::PciId{0x8086, 0x4c43};
  EXPECT_FALSE(decides(diagnose(facts), "R56"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::works);
}

TEST(R30, ABarOneByteTooSmallBlocksAndOneAsLargeDoesNot) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").size_bytes = 24 * kGiga - 1;
  EXPECT_TRUE(decides(diagnose(facts), "R30"));
  vram_bar(facts, "A").size_bytes = 24 * kGiga;
  EXPECT_FALSE(decides(diagnose(facts), "R30"));
  EXPECT_TRUE(decides(diagnose(facts), "R38"));
}

TEST(R30, OneSmallBarBlocksOnlyTheWayIntoItsCard) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "B").size_bytes = 256 * kMega;
  EXPECT_EQ(find_finding(diagnose(facts), "R30")->pairs, std::vector<std::string>{"A>B"});
}

TEST(R31, ACardWhoseListEndsBelowItsVramIsToldNothingOfTheBios) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").size_bytes = 256 * kMega;
  vram_bar(facts, "A").resizable = {{256 * kMega, 16 * kGiga}};
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R31"));
  EXPECT_FALSE(offers(report, "F01") || offers(report, "F02") || offers(report, "F03"));
  vram_bar(facts, "A").resizable = {{256 * kMega, 32 * kGiga}};
  EXPECT_FALSE(decides(diagnose(facts), "R31"));
}

TEST(R32, WithoutAWindowAbove4GibBarsCannotGrow) {
  HostFacts facts = on_root_ports();
  for (const std::string name : {"A", "B"}) {
    vram_bar(facts, name).size_bytes = 256 * kMega;
    vram_bar(facts, name).base = 0xc0000000;
  }
  facts.roots[0].memory_64 = {.base = {}, .size_bytes = 0};
  EXPECT_TRUE(decides(diagnose(facts), "R32"));
  EXPECT_TRUE(offers(diagnose(facts), "F01"));
  facts.roots[0].memory_64 = {.base = uint64_t{1} << 40, .size_bytes = 512 * kGiga};
  EXPECT_FALSE(decides(diagnose(facts), "R32"));
}

TEST(R33, TheHostWindowIsHeldAgainstTheSumOfAllCards) {
  HostFacts facts = on_root_ports();
  for (const std::string name : {"A", "B"}) vram_bar(facts, name).size_bytes = 256 * kMega;
  // 96 GiB + 2 MiB: two cards of 32 GiB + 2 MiB, each from a multiple of 32 GiB.
  facts.roots[0].memory_64.size_bytes = 96 * kGiga + 2 * kMega - 1;
  EXPECT_TRUE(decides(diagnose(facts), "R33"));
  facts.roots[0].memory_64.size_bytes = 96 * kGiga + 2 * kMega;
  EXPECT_FALSE(decides(diagnose(facts), "R33"));
}

TEST(R34, SiblingsPinTheirWindowAndReallocIsNoCure) {
  HostFacts facts = below_switch();
  for (const std::string name : {"A", "B"}) vram_bar(facts, name).size_bytes = 256 * kMega;
  for (const std::string port : {"up", "0000:00:02.0"}) {
    function(facts, port).prefetchable.size_bytes = 770 * kMega;
  }
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R34"));
  EXPECT_FALSE(offers(report, "F13"));
  EXPECT_TRUE(offers(report, "F22"));
  EXPECT_TRUE(says(report, "window of up: 770 mib, needed 96 gib + 2 mib"));
  facts.kernel.release = "7.0.3";
  EXPECT_FALSE(offers(diagnose(facts), "F22"));
}

TEST(R34, AWindowThatIsLongEnoughPinsNothing) {
  HostFacts facts = below_switch();
  for (const std::string name : {"A", "B"}) vram_bar(facts, name).size_bytes = 256 * kMega;
  EXPECT_FALSE(decides(diagnose(facts), "R34"));
  EXPECT_TRUE(decides(diagnose(facts), "R30"));
}

TEST(R35, OnlyKernel70LosesTheSecondSibling) {
  HostFacts facts = below_switch();
  vram_bar(facts, "B").size_bytes = 0;
  vram_bar(facts, "B").base.reset();
  facts.log = {"pci 0000:06:00.0: BAR 0 [mem size 0x800000000 64bit pref]: can't assign; no space"};
  facts.kernel.release = "7.0.12";
  EXPECT_EQ(diagnose(facts).fixes.front(), "F20");
  EXPECT_TRUE(decides(diagnose(facts), "R35"));
  facts.kernel.release = "6.17.2";
  EXPECT_FALSE(decides(diagnose(facts), "R35"));
}

TEST(R36, AnotherDeviceInTheWindowPinsALoneCard) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").size_bytes = 256 * kMega;
  function(facts, "0000:00:02.0").prefetchable.size_bytes = 300 * kMega;
  EXPECT_FALSE(decides(diagnose(facts), "R36"));
  host::Function network;
  network.name = "0000:07:00.0";
  network.address = host::parse_pci_address(network.name);
  network.parent = "0000:00:02.0";
  host::Bar bar;
  bar.size_bytes = 32 * kMega;
  bar.prefetchable = true;
  network.bars = {bar};
  facts.functions.push_back(network);
  host::sort_functions(facts);
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R36"));
  EXPECT_TRUE(says(report, "pinned by 0000:07:00.0"));
  EXPECT_TRUE(offers(report, "F26"));
}

TEST(R37, WhereOthersAreLargeTheOrderOfAllocationIsToBlame) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").size_bytes = 256 * kMega;
  EXPECT_TRUE(decides(diagnose(facts), "R37"));
  vram_bar(facts, "B").size_bytes = 256 * kMega;
  EXPECT_FALSE(decides(diagnose(facts), "R37"));
}

TEST(R40, ABarThatEndsAtTheMaskIsReachedAndOneByteMoreIsNot) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").base = (uint64_t{1} << 44) - 32 * kGiga;
  EXPECT_FALSE(decides(diagnose(facts), "R40"));
  vram_bar(facts, "A").size_bytes = 32 * kGiga + 1;
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R40"));
  EXPECT_EQ(find_finding(report, "R40")->pairs, std::vector<std::string>{"B>A"});
  EXPECT_EQ(report.fixes.front(), "F04");
}

TEST(R40, WithTheIommuModeUnknownOnlyARefusalDecides) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").base = uint64_t{1} << 45;
  facts.iommu.reset();
  EXPECT_FALSE(decides(diagnose(facts), "R40"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
  facts.observed.peers = {{"A", "B", false, ""}};
  EXPECT_TRUE(decides(diagnose(facts), "R40"));
}

TEST(R41, TranslationReachesHighBarsAndIdentityDoesNot) {
  HostFacts facts = on_root_ports();
  vram_bar(facts, "A").base = uint64_t{1} << 45;
  facts.iommu = IommuMode::translated;
  EXPECT_TRUE(decides(diagnose(facts), "R41"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::works);
  facts.iommu = IommuMode::identity;
  EXPECT_FALSE(decides(diagnose(facts), "R41"));
  EXPECT_TRUE(decides(diagnose(facts), "R40"));
}

TEST(R41, BarsWithinTheMaskNeedNoRemark) {
  HostFacts facts = on_root_ports();
  facts.iommu = IommuMode::translated;
  EXPECT_FALSE(decides(diagnose(facts), "R41"));
}

TEST(R50, ValidationAndForwardingAloneDoNotRedirect) {
  HostFacts facts = below_switch();
  set_redirect(facts, "leg-a", 0x11);
  EXPECT_TRUE(decides(diagnose(facts), "R50"));
  set_redirect(facts, "leg-a", 0x20);
  EXPECT_FALSE(decides(diagnose(facts), "R50"));
}

TEST(R51, OnZenRedirectOnlyDegrades) {
  HostFacts facts = below_switch();
  set_redirect(facts, "leg-b", kRedirect);
  facts.machine.cpu_vendor = "AuthenticAMD";
  facts.machine.cpu_family = 0x17;
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R51"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::degraded);
  EXPECT_EQ(pair_of(report).route, Route::root);
  EXPECT_TRUE(says(report,
                   "0x001d = source validation, request redirect, completion redirect, upstream "
                   "forwarding"));
  facts.machine.cpu_family = 0x16;
  EXPECT_FALSE(decides(diagnose(facts), "R51"));
}

TEST(R52, OnAListedBridgeRedirectOnlyDegrades) {
  HostFacts facts = below_switch();
  set_redirect(facts, "leg-a", kRedirect);
  facts.kernel.release = "7.4";
  EXPECT_TRUE(decides(diagnose(facts), "R52"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::degraded);
  facts.kernel.release = "7.3.9";
  EXPECT_FALSE(decides(diagnose(facts), "R52"));
}

TEST(R53, OnAnUnlistedBridgeRedirectBlocks) {
  HostFacts facts = below_switch();
  set_redirect(facts, "leg-a", kRedirect);
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R53"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::blocked);
  EXPECT_TRUE(says(report, "pci=disable_acs_redir=leg-a"));
  EXPECT_TRUE(says(report, "setpci -s leg-a ecap_acs+6.w=0000"));
}

TEST(R54, ZenAcceptsAllPortsAndOlderAmdDoesNot) {
  HostFacts facts = on_two_sockets();
  facts.machine.cpu_vendor = "AuthenticAMD";
  facts.machine.cpu_family = 0x19;
  EXPECT_TRUE(decides(diagnose(facts), "R54"));
  facts.machine.cpu_family = 0x15;
  EXPECT_FALSE(decides(diagnose(facts), "R54"));
  facts.machine.cpu_vendor = "HygonGenuine";
  facts.machine.cpu_family = 0x18;
  EXPECT_FALSE(decides(diagnose(facts), "R54"));
}

TEST(R55, TheListIsThatOfTheKernelThatRuns) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x6f00};
  facts.kernel.release = "7.4";
  EXPECT_TRUE(decides(diagnose(facts), "R55"));
  facts.kernel.release = "7.3.2";
  EXPECT_FALSE(decides(diagnose(facts), "R55"));
  facts.kernel.patches = {"p2pdma: allow list entry 8086:6f00"};
  EXPECT_TRUE(decides(diagnose(facts), "R55"));
}

TEST(R56, AnEntryOfALaterKernelIsOfferedAndBackPorted) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x6f00};
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R56"));
  EXPECT_TRUE(offers(report, "F16") && offers(report, "F17"));
  EXPECT_FALSE(offers(report, "F18"));
  EXPECT_TRUE(says(report, "{pci_vendor_id_intel, 0x6f00, req_same_host_bridge},"));
}

TEST(R56, AnUnlistedBridgeIsForcedLastAndWithAWarning) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x0e00};
  const Report report = diagnose(facts);
  EXPECT_EQ(report.fixes.front(), "F08");
  EXPECT_EQ(report.fixes.back(), "F18");
  EXPECT_TRUE(says(report, "warning: 8086:0e00 is in no release"));
}

TEST(R57, TwoListedBridgesAreCrossedAtAPrice) {
  HostFacts facts = on_two_sockets();
  EXPECT_TRUE(decides(diagnose(facts), "R57"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::degraded);
  EXPECT_EQ(pair_of(diagnose(facts)).route, Route::cross_host);
  facts.roots[1].first.id = host::PciId{0x8086, 0x2f00};
  EXPECT_FALSE(decides(diagnose(facts), "R57"));
}

TEST(R58, AnEntryForOneBridgeRefusesTwo) {
  HostFacts facts = on_two_sockets();
  for (host::RootBus& root : facts.roots) root.first.id = host::PciId{0x8086, 0x2f00};
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R58"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::blocked);
  EXPECT_FALSE(says(report, "hardware limit"));
  EXPECT_TRUE(says(report, "not proven impossible"));
}

TEST(R58, WithOneBridgeUnknownAndTheOtherListedForAllNothingIsKnown) {
  HostFacts facts = on_two_sockets();
  facts.roots[1].first = {};
  EXPECT_FALSE(decides(diagnose(facts), "R58"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
}

TEST(R59, AFirstDeviceThatTheKernelDoesNotLookUpIsARefusal) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.name = "0000:00:04.0";
  EXPECT_TRUE(decides(diagnose(facts), "R59"));
  EXPECT_TRUE(decides(diagnose(facts), "R56"));
  facts.roots[0].first.is_root_port = true;
  EXPECT_FALSE(decides(diagnose(facts), "R59"));
  facts.kernel.release = "5.18.1";
  EXPECT_TRUE(decides(diagnose(facts), "R59"));
}

TEST(R60, APatchedNvidiaDriverIsUnsafeUnderTranslation) {
  HostFacts facts = nvidia_pair();
  facts.observed.other = {{"driver", "patched open module"}};
  facts.iommu = IommuMode::translated;
  EXPECT_TRUE(decides(diagnose(facts), "R60"));
  EXPECT_EQ(diagnose(facts).fixes.front(), "F06");
  facts.iommu = IommuMode::identity;
  EXPECT_FALSE(decides(diagnose(facts), "R60"));
}

TEST(R60, WhereOnlyTranslationReachesTheBaseIsLoweredFirst) {
  HostFacts facts = on_root_ports();
  facts.iommu = IommuMode::translated;
  facts.observed.stability = "RCCL hang with the IOMMU on";
  vram_bar(facts, "A").base = uint64_t{1} << 45;
  EXPECT_EQ(diagnose(facts).fixes.front(), "F04");
  facts.observed.stability = "no hang in a week with the IOMMU on";
  EXPECT_FALSE(decides(diagnose(facts), "R60"));
}

TEST(R61, AnEntryThatNobodyTestedIsUnsafeUntilDataWereChecked) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x0e00};
  facts.kernel.patches = {"p2pdma whitelist 8086:0e00"};
  EXPECT_TRUE(decides(diagnose(facts), "R61"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unsafe);
  facts.observed.data_check = "pass";
  EXPECT_FALSE(decides(diagnose(facts), "R61"));
  EXPECT_TRUE(pair_of(diagnose(facts)).verified);
}

TEST(R62, AFailedDataCheckIsUnsafeWhateverTheRulesSay) {
  HostFacts facts = below_switch();
  facts.observed.data_check = "fail";
  EXPECT_TRUE(decides(diagnose(facts), "R62"));
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unsafe);
  EXPECT_EQ(diagnose(facts).fixes.front(), "F29");
  facts.observed.data_check.clear();
  EXPECT_FALSE(decides(diagnose(facts), "R62"));
  facts.observed.stability = "peer copies return all ones";
  EXPECT_TRUE(decides(diagnose(facts), "R62"));
}

TEST(R63, HangsThatOnlyPeersBringAreUnsafe) {
  HostFacts facts = below_switch();
  facts.observed.stability = "reset under load; fine with NCCL_P2P_DISABLE=1";
  EXPECT_TRUE(decides(diagnose(facts), "R63"));
  facts.observed.stability = "reset under load";
  EXPECT_FALSE(decides(diagnose(facts), "R63"));
}

TEST(R80, IsNotSaidOnceDataWereChecked) {
  HostFacts facts = below_switch();
  facts.observed.data_check = "pass";
  const Report report = diagnose(facts);
  EXPECT_EQ(pair_of(report).rules, (std::vector<std::string>{"R38", "R50", "R81"}));
  EXPECT_TRUE(pair_of(report).verified);
  EXPECT_TRUE(report.fixes.empty());
}

TEST(R82, AGrantThatTheRulesForbidIsShownWithBoth) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x0e00};
  facts.observed.peers = {{"A", "B", true, ""}};
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R82"));
  EXPECT_TRUE(decides(report, "R56"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::unknown);
}

TEST(R82, ARefusalThatNoRuleExplainsIsShownToo) {
  HostFacts facts = below_switch();
  facts.observed.peers = {{"A", "B", false, ""}};
  EXPECT_TRUE(decides(diagnose(facts), "R82"));
  EXPECT_FALSE(decides(diagnose(facts), "R80"));
  facts.observed.peers = {{"A", "B", true, ""}};
  EXPECT_FALSE(decides(diagnose(facts), "R82"));
}

TEST(R83, AGrantCoversWhatCouldNotBeReadAndVerifiesNothing) {
  HostFacts facts = below_switch();
  function(facts, "leg-a").acs.reset();
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::unknown);
  facts.observed.peers = {{"A", "B", true, ""}};
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R83"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::works);
  EXPECT_FALSE(pair_of(report).verified);
  EXPECT_TRUE(says(report, "passed by observation: acs control of leg-a"));
}

TEST(Observation, ARefusalWithGapsLeftIsARefusal) {
  HostFacts facts = below_switch();
  function(facts, "leg-a").acs.reset();
  facts.observed.peers = {{"A", "B", false, ""}};
  EXPECT_EQ(pair_of(diagnose(facts)).verdict, Verdict::blocked);
}

}  // namespace
}  // namespace evener::doctor
