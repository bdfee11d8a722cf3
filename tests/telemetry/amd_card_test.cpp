#include "telemetry/amd_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "telemetry/fake_tree.h"

namespace evener::telemetry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kWay = "pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:00.0";

class AmdCardTest : public testing::Test {
 protected:
  AmdCardTest() {
    tree_.add_function("pci0000:00/0000:00:01.1", "0x1022", "0x060400");
    slot_ = tree_.add_function("pci0000:00/0000:00:01.1/0000:01:00.0", "0x1002", "0x060400");
    tree_.add_function("pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0", "0x1002", "0x060400");
    card_ = tree_.add_function(kWay, "0x1002", "0x030000");
    tree_.link(card_ + "/driver", "../../../bus/pci/drivers/amdgpu");
    tree_.write(card_ + "/power/runtime_status", "active\n");
    tree_.write(card_ + "/product_name", "Radeon \x01Pro\n");
    tree_.write(card_ + "/gpu_busy_percent", "97\n");
    tree_.write(card_ + "/mem_info_vram_used", "21474836480\n");
    tree_.write(card_ + "/current_link_speed", "32.0 GT/s PCIe\n");
    tree_.write(card_ + "/current_link_width", "16\n");
    tree_.write(slot_ + "/current_link_speed", "16.0 GT/s PCIe\n");
    tree_.write(slot_ + "/current_link_width", "8\n");
    tree_.write(card_ + "/pp_od_clk_voltage",
                std::string("OD_SCLK:\n0: 500Mhz\n1: 1500Mhz\nOD_MCLK:\n0: 97Mhz\n1: 1250MHz\n"));
    tree_.write(card_ + "/pp_dpm_sclk", "0: 500Mhz\n1: 2219Mhz *\n");
    const std::string hwmon = card_ + "/hwmon/hwmon8";
    tree_.write(hwmon + "/name", "amdgpu\n");
    tree_.write(hwmon + "/power1_average", "288000000\n");
    tree_.write(hwmon + "/power1_cap", "290000000\n");
    tree_.write(hwmon + "/freq1_input", "1498000000\n");
    tree_.write(hwmon + "/freq2_input", "1249000000\n");
    // Numbered in another order than usual.
    write_temperature(hwmon + "/temp3", "edge", "53000");
    write_temperature(hwmon + "/temp1", "junction", "61000");
    write_temperature(hwmon + "/temp2", "mem", "68000");
    tree_.write(hwmon + "/temp1_crit", "110000\n");
  }
  void write_temperature(const std::string& path, const std::string& label,
                         const std::string& value) {
    tree_.write(path + "_label", label + "\n");
    tree_.write(path + "_input", value + "\n");
  }
  CardReading read() {
    const auto cards = find_pci_cards(tree_.files(), kAmd, "amdgpu");
    EXPECT_EQ(cards.size(), 1);
    return AmdCard(tree_.files(), cards.at(0)).read(tree_.files());
  }

  FakeTree tree_;
  std::string card_;
  std::string slot_;
};

TEST_F(AmdCardTest, IsReadByLabelsAndKnownByItsAddress) {
  const CardReading reading = read();
  EXPECT_EQ(reading.bus, "0000:03:00.0");
  EXPECT_EQ(reading.name, "Radeon ?Pro");
  EXPECT_EQ(reading.power_w, 288);
  EXPECT_EQ(reading.power_cap_w, 290);
  EXPECT_EQ(reading.edge_celsius, 53);
  EXPECT_EQ(reading.junction_celsius, 61);
  EXPECT_EQ(reading.memory_celsius, 68);
  EXPECT_EQ(reading.core_mhz, 1498);
  EXPECT_EQ(reading.core_mhz_max, 1500);
  EXPECT_EQ(reading.memory_mhz, 1249);
  EXPECT_EQ(reading.busy, 0.97);
  EXPECT_EQ(reading.memory_used_bytes, uint64_t{20} << 30);
  EXPECT_THAT(reading.throttle, IsEmpty());
}

// Case t10 of the reference: the graphics function says Gen5 x16, the slot runs Gen4 x8.
TEST_F(AmdCardTest, ItsLinkIsThatOfTheSlotAndNotTheOneInsideTheCard) {
  const CardReading reading = read();
  EXPECT_EQ(reading.link_gts, 16);
  EXPECT_EQ(reading.link_width, 8);
}

// The way up ends at what is no bridge of AMD's graphics, and after two.
TEST(SlotLink, EndsAtTheOutermostBridgeOfTheCard) {
  FakeTree tree;
  std::string way = "pci0000:00/0000:00:01.0";
  tree.add_function(way, "0x1022", "0x060400");
  way += "/0000:01:00.0";
  const std::string slot = tree.add_function(way, "0x1002", "0x060400");
  const std::string card = tree.add_function(way + "/0000:02:00.0", "0x1002", "0x030000");
  EXPECT_EQ(slot_link_path(tree.files(), {"0000:02:00.0", card}), slot);

  way = "pci0000:10/0000:10:00.0";
  tree.add_function(way, "0x1002", "0x060400");
  way += "/0000:11:00.0";
  const std::string second = tree.add_function(way, "0x1002", "0x060400");
  way += "/0000:12:00.0";
  tree.add_function(way, "0x1002", "0x060400");
  const std::string deep = tree.add_function(way + "/0000:13:00.0", "0x1002", "0x030000");
  EXPECT_EQ(slot_link_path(tree.files(), {"0000:13:00.0", deep}), second);

  const std::string bare = tree.add_function("pci0000:20/0000:20:00.0", "0x1002", "0x030000");
  EXPECT_EQ(slot_link_path(tree.files(), {"0000:20:00.0", bare}), bare);
}

TEST_F(AmdCardTest, SleepsOnWhileItIsAsked) {
  tree_.write(card_ + "/power/runtime_status", "suspended\n");
  const CardReading reading = read();
  EXPECT_EQ(reading.bus, "0000:03:00.0");
  EXPECT_EQ(reading.memory_used_bytes, uint64_t{20} << 30);
  EXPECT_EQ(reading.power_w, std::nullopt);
  EXPECT_EQ(reading.busy, std::nullopt);
  EXPECT_EQ(reading.link_gts, std::nullopt);
}

TEST_F(AmdCardTest, WhatItDoesNotReportIsAbsent) {
  const std::string hwmon = card_ + "/hwmon/hwmon8";
  tree_.write(hwmon + "/power1_cap", "\n");  // the driver's query failed
  tree_.remove(hwmon + "/power1_average");
  tree_.write(hwmon + "/power1_input", "18446744073709551615\n");
  tree_.write(hwmon + "/freq1_input", "65535000000\n");
  tree_.write(hwmon + "/temp1_input", "-273150\n");
  tree_.write(card_ + "/gpu_busy_percent", "65535\n");
  tree_.write(slot_ + "/current_link_width", "255\n");
  tree_.write(card_ + "/pp_dpm_sclk", "unavailable\n");
  tree_.write(card_ + "/pp_od_clk_voltage", "\n");
  const CardReading reading = read();
  EXPECT_EQ(reading.power_cap_w, std::nullopt);
  EXPECT_EQ(reading.power_w, std::nullopt);
  EXPECT_EQ(reading.core_mhz, std::nullopt);
  EXPECT_EQ(reading.core_mhz_max, std::nullopt);
  EXPECT_EQ(reading.junction_celsius, std::nullopt);
  EXPECT_EQ(reading.busy, std::nullopt);
  EXPECT_EQ(reading.link_width, std::nullopt);
  EXPECT_EQ(reading.edge_celsius, 53);
}

TEST_F(AmdCardTest, OtherDriversAndOtherClassesAreNoCardsOfOurs) {
  tree_.add_function("pci0000:00/0000:00:1f.0", "0x1002", "0x040300");
  tree_.add_function("pci0000:00/0000:00:1e.0", "0x1002", "0x030000");  // no driver
  EXPECT_EQ(find_pci_cards(tree_.files(), kAmd, "amdgpu").size(), 1);
  EXPECT_THAT(find_pci_cards(tree_.files(), kNvidia, "nvidia"), IsEmpty());
}

TEST(AmdClocks, TheUpperEndIsReadThroughTheDriversGaps) {
  const std::string gaps(80, '\0');
  const std::string overdrive = "OD_SCLK:\n0: 500Mhz\n" + gaps + "1: 2735MHz\n" + gaps +
                                "OD_MCLK:\n1: 1250MHz\nOD_RANGE:\nSCLK: 500Mhz 5000Mhz\n";
  EXPECT_EQ(core_mhz_max(overdrive, "0: 500Mhz\n1: 2219Mhz *\n"), 2735);
}

// Case t02: RDNA4 has an offset; case t01: the live clock is a line between, above the last one.
TEST(AmdClocks, WithoutAnUpperEndTheLastLineAndTheOffsetCount) {
  const std::string table = "S: 500Mhz\n1: 2789Mhz *\n2: 2070Mhz\n";
  EXPECT_EQ(core_mhz_max("", table), 2070);
  EXPECT_EQ(core_mhz_max("OD_SCLK_OFFSET:\n-300Mhz\nOD_MCLK:\n1: 1259MHz\n", table), 1770);
  EXPECT_EQ(starred_mhz(table), 2789);
}

TEST(AmdClocks, SeveralStarsOrNoneSayNothing) {
  EXPECT_EQ(starred_mhz("0: 500Mhz *\n1: 600Mhz *\n"), std::nullopt);
  EXPECT_EQ(starred_mhz("0: 500Mhz\n"), std::nullopt);
  EXPECT_EQ(starred_mhz("0: fast *\n"), std::nullopt);
}

std::string metrics_1_3(uint64_t throttle_bits) {
  std::string bytes(120, '\xff');
  bytes[0] = 120;
  bytes[1] = 0;
  bytes[2] = 1;
  bytes[3] = 3;
  std::memcpy(bytes.data() + 112, &throttle_bits, sizeof throttle_bits);
  return bytes;
}

CardReading hot_card_at_its_cap() {
  CardReading reading;
  reading.power_w = 285;
  reading.power_cap_w = 290;
  reading.junction_celsius = 108;
  return reading;
}

TEST(AmdThrottle, EveryKindHasItsWord) {
  const uint64_t all = 1 | uint64_t{1} << 16 | uint64_t{1} << 33;
  EXPECT_THAT(throttle_reasons(metrics_1_3(all), hot_card_at_its_cap(), 110),
              ElementsAre("power", "current", "thermal"));
}

// Case t03: the bit of the hotspot is set on an idle, cold card.
TEST(AmdThrottle, TheHotspotBitCountsNearItsLimitAlone) {
  const std::string metrics = metrics_1_3(uint64_t{1} << 36);
  CardReading reading = hot_card_at_its_cap();
  EXPECT_THAT(throttle_reasons(metrics, reading, 110), ElementsAre("thermal"));
  reading.junction_celsius = 106;
  EXPECT_THAT(throttle_reasons(metrics, reading, 110), IsEmpty());
  EXPECT_THAT(throttle_reasons(metrics, hot_card_at_its_cap(), std::nullopt), IsEmpty());
}

TEST(AmdThrottle, ThePowerBitCountsAtTheCapAlone) {
  CardReading reading = hot_card_at_its_cap();
  EXPECT_THAT(throttle_reasons(metrics_1_3(1), reading, 110), ElementsAre("power"));
  reading.power_w = 250;
  EXPECT_THAT(throttle_reasons(metrics_1_3(1), reading, 110), IsEmpty());
}

TEST(AmdThrottle, OtherVersionsAndDamageSayNothing) {
  std::string other = metrics_1_3(1);
  other[3] = 4;
  std::string longer = metrics_1_3(1);
  longer[0] = 121;
  const CardReading reading = hot_card_at_its_cap();
  for (const std::string& bytes :
       {std::string(), std::string("\x78"), metrics_1_3(1).substr(0, 119), other, longer,
        metrics_1_3(~uint64_t{0})}) {
    EXPECT_THAT(throttle_reasons(bytes, reading, 110), IsEmpty());
  }
}

}  // namespace
}  // namespace evener::telemetry
