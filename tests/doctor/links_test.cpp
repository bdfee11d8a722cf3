// Goal: speeds are judged by both ends of a link, idle readings are no faults, and no bottleneck is
// named that a measurement contradicts.
#include "doctor/links.h"

#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/machines.h"

namespace evener::doctor {
namespace {

using host::HostFacts;
using host::Link;

Link link(double max_gts, unsigned max_width, double now_gts, unsigned now_width,
          std::optional<bool> under_load = {}) {
  Link result;
  result.max_gts = max_gts;
  result.max_width = max_width;
  result.now_gts = now_gts;
  result.now_width = now_width;
  result.under_load = under_load;
  return result;
}

// A at Gen3 x16 in a Gen3 slot, B as told.
HostFacts linked(const Link& port, const Link& card_b) {
  HostFacts facts = on_root_ports();
  facts.roots[0].first.id = host::PciId{0x8086, 0x2020};
  set_link(function(facts, "0000:00:02.0"), link(8, 16, 8, 16));
  set_link(card(facts, "A"), link(16, 16, 8, 16));
  set_link(function(facts, "0000:00:03.0"), port);
  set_link(card(facts, "B"), card_b);
  return facts;
}

TEST(RawRate, IsThatOfTheStandard) {
  EXPECT_DOUBLE_EQ(raw_gb_per_s(2.5, 16), 4.0);
  EXPECT_DOUBLE_EQ(raw_gb_per_s(5, 8), 4.0);
  EXPECT_NEAR(raw_gb_per_s(8, 16), 15.75, 0.01);
  EXPECT_NEAR(raw_gb_per_s(16, 16), 31.5, 0.02);
  EXPECT_NEAR(raw_gb_per_s(32, 8), 31.5, 0.02);
  EXPECT_NEAR(raw_gb_per_s(64, 16), 121, 0.1);
  EXPECT_EQ(raw_gb_per_s(7, 16), 0);
}

TEST(R70, EveryHopOfEachCardIsListedAndTheSlowestIsTheBottleneck) {
  const Report report = diagnose(linked(link(8, 16, 8, 8), link(16, 8, 8, 8)));
  EXPECT_EQ(find_finding(report, "R70")->severity, Finding::Severity::pass);
  ASSERT_TRUE(report.bottleneck.has_value());
  EXPECT_EQ(report.bottleneck->port, "0000:06:00.0");
  EXPECT_EQ(report.bottleneck->width, 8u);
  EXPECT_NEAR(report.bottleneck->raw_gb_per_s.value(), 7.88, 0.01);
  EXPECT_NEAR(pair_of(report).raw_gb_per_s.value(), 7.88, 0.01);
}

TEST(R71, ALinkNarrowerThanBothEndsIsAFaultAndANarrowCardIsNot) {
  EXPECT_NE(find_finding(diagnose(linked(link(8, 16, 8, 4), link(16, 16, 8, 4))), "R71"), nullptr);
  EXPECT_EQ(find_finding(diagnose(linked(link(8, 16, 8, 4), link(16, 4, 8, 4))), "R71"), nullptr);
}

TEST(R72, ASlowIdleLinkAsksForAReadingUnderLoad) {
  const Report report = diagnose(linked(link(8, 16, 2.5, 16), link(16, 16, 2.5, 16)));
  EXPECT_NE(find_finding(report, "R72"), nullptr);
  EXPECT_EQ(find_finding(report, "R73"), nullptr);
  ASSERT_TRUE(report.bottleneck.has_value());
  EXPECT_FALSE(report.bottleneck->idle_reading) << "an idle reading is no bottleneck";
}

TEST(R72, AGen4CardInAGen3SlotIsNoFault) {
  const Report report = diagnose(linked(link(8, 16, 8, 16), link(16, 16, 8, 16)));
  EXPECT_EQ(find_finding(report, "R72"), nullptr);
  EXPECT_EQ(find_finding(report, "R73"), nullptr);
}

TEST(R73, ALinkThatStaysSlowUnderLoadIsAFault) {
  const Report report = diagnose(linked(link(8, 16, 2.5, 16, true), link(16, 16, 2.5, 16, true)));
  EXPECT_NE(find_finding(report, "R73"), nullptr);
  EXPECT_EQ(find_finding(report, "R72"), nullptr);
}

TEST(R74, ACardOnTheChipsetDegradesItsPairs) {
  HostFacts facts = on_root_ports();
  function(facts, "0000:00:02.0").id = host::PciId{0x8086, 0x8d10};
  EXPECT_FALSE(decides(diagnose(facts), "R74"));
  host::Function& port = function(facts, "0000:00:02.0");
  port.address->device = 0x1c;
  host::sort_functions(facts);
  const Report report = diagnose(facts);
  EXPECT_TRUE(decides(report, "R74"));
  EXPECT_EQ(pair_of(report).verdict, Verdict::degraded);
}

TEST(R75, AMeasurementAboveTheLinkWithholdsTheBottleneck) {
  HostFacts facts = linked(link(8, 16, 8, 8), link(16, 8, 8, 8));
  facts.observed.rates = {{"h2d_gbs", "B", 7.8}};
  const Report report = diagnose(facts);
  EXPECT_NE(find_finding(report, "R75"), nullptr);
  EXPECT_FALSE(report.bottleneck.has_value());
}

TEST(R75, RatesWithinTheBandAgreeWithTheLinks) {
  HostFacts facts = linked(link(8, 16, 8, 8), link(16, 8, 8, 8));
  facts.observed.rates = {{"h2d_gbs", "B", 6.6}, {"h2d_gbs", "A", 13.4}};
  const Report report = diagnose(facts);
  EXPECT_EQ(find_finding(report, "R75"), nullptr);
  EXPECT_TRUE(report.bottleneck.has_value());
  facts.observed.rates = {{"h2d_gbs", "B", 5.0}};
  EXPECT_NE(find_finding(diagnose(facts), "R75"), nullptr) << "63 % is below the band";
}

TEST(R76, HalfTheLinkIsNoFaultThroughTheRootOfAnE5) {
  HostFacts facts = linked(link(8, 16, 8, 16), link(16, 16, 8, 16));
  facts.observed.peers = {{"A", "B", true, ""}};
  facts.observed.rates = {{"peer_copy_gbs", "A-B", 6.2}};
  EXPECT_NE(find_finding(diagnose(facts), "R75"), nullptr);
  EXPECT_EQ(find_finding(diagnose(facts), "R76"), nullptr);
  facts.machine.cpu = "Intel Xeon E5-2697A v4";
  EXPECT_EQ(find_finding(diagnose(facts), "R75"), nullptr);
  EXPECT_NE(find_finding(diagnose(facts), "R76"), nullptr);
}

TEST(R77, OnTwoSocketsTheNodeOfEachCardIsNamed) {
  HostFacts facts = on_two_sockets();
  EXPECT_EQ(find_finding(diagnose(facts), "R77"), nullptr);
  card(facts, "B").numa_node = 1;
  EXPECT_NE(find_finding(diagnose(facts), "R77"), nullptr);
  facts.machine.num_sockets = 1;
  EXPECT_EQ(find_finding(diagnose(facts), "R77"), nullptr);
}

// The GPU's own link behind the switch on its card says nothing about the slot.
TEST(CardSwitch, ItsInnerLinkIsNoHopOfThePath) {
  HostFacts facts = on_root_ports();
  for (const char* name : {"card-up", "card-down"}) {
    host::Function port;
    port.name = name;
    port.is_bridge = true;
    port.port =
        std::string(name) == "card-up" ? host::PortKind::card_up : host::PortKind::card_down;
    port.parent = std::string(name) == "card-up" ? "0000:00:03.0" : "card-up";
    port.acs = host::Acs{};
    facts.functions.push_back(port);
  }
  host::sort_functions(facts);
  card(facts, "B").parent = "card-down";
  set_link(card(facts, "B"), link(2.5, 1, 2.5, 1));
  set_link(function(facts, "card-down"), link(2.5, 1, 2.5, 1));
  set_link(function(facts, "card-up"), link(16, 16, 8, 16));
  set_link(function(facts, "0000:00:03.0"), link(8, 16, 8, 16));
  const Report report = diagnose(facts);
  ASSERT_TRUE(report.bottleneck.has_value());
  EXPECT_EQ(report.bottleneck->port, "card-up");
  EXPECT_EQ(report.links[1].hops.size(), 2u);
}

}  // namespace
}  // namespace evener::doctor
