#include "bench/host_caliber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::bench {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

class HostCaliber : public testing::Test {
 protected:
  HostCaliber() {
    facts_.machine.board = "Precision Tower 7910";
    facts_.machine.cpu = "Xeon E5-2697A v4";
    facts_.machine.num_sockets = 2;
    facts_.kernel.release = "6.8.0";
    facts_.iommu = host::IommuMode::identity;
    add_function("0000:03:00.0", {}, host::PortKind::card_up, 16, 16);
    add_function("0000:05:00.0", "0000:03:00.0", {}, 32, 16);
    facts_.functions.back().driver = "amdgpu";
    facts_.gpus.push_back({.name = "A",
                           .function = "0000:05:00.0",
                           .model = "Radeon\nPro",
                           .gfx = "gfx1100",
                           .vram_bytes = 25'753'026'560,
                           .visible_vram_bytes = {},
                           .vram_bar = {},
                           .in_kfd = {},
                           .power_limit_watts = {}});
    facts_.observed.peers = {{"A", "B", true}, {"B", "A", false}};
    sample_.host.cpu_mhz_cap = 3600;
    sample_.cards.resize(1);
    sample_.cards[0].bus = "0000:05:00.0";
    sample_.cards[0].power_cap_w = 290;
    sample_.cards[0].core_mhz_max = 1500;
  }
  void add_function(const std::string& address, const std::string& parent,
                    std::optional<host::PortKind> port, double gts, unsigned width) {
    host::Function& function = facts_.functions.emplace_back();
    function.name = address;
    function.address = host::parse_pci_address(address);
    function.parent = parent;
    function.port = port;
    function.link = host::Link{gts, width, 2.5, width, false};
  }
  Caliber caliber(HostRole role = HostRole::server) {
    return host_caliber(facts_, sizes_, sample_, role);
  }

  host::HostFacts facts_;
  HostSizes sizes_{.num_cores = 32,
                   .num_cpus = 64,
                   .memory_bytes = 137'438'953'472,
                   .swap_bytes = 0,
                   .isas = {"avx2", "avx512vnni"}};
  telemetry::Sample sample_;
};

TEST_F(HostCaliber, NamesWhatDecidesTheFigures) {
  Caliber found = caliber();
  EXPECT_EQ(found["host.facts_hash"].size(), 16);
  found.erase("host.facts_hash");
  const Caliber wanted = {
      {"device.0000:05:00.0.clock_cap_mhz", "1500"},
      {"device.0000:05:00.0.driver", "amdgpu"},
      {"device.0000:05:00.0.link", "16 GT/s x16"},  // of the slot, not of the chip in the card
      {"device.0000:05:00.0.name", "Radeon?Pro"},
      {"device.0000:05:00.0.power_cap_w", "290"},
      {"device.0000:05:00.0.vram_bytes", "25753026560"},
      {"host.board", "Precision Tower 7910"},
      {"host.cards", "1"},
      {"host.cores", "32"},
      {"host.cpu", "Xeon E5-2697A v4"},
      {"host.cpu_clock_cap_mhz", "3600"},
      {"host.cpus", "64"},
      {"host.iommu", "identity"},
      {"host.isa", "avx2 avx512vnni"},
      {"host.kernel", "6.8.0"},
      {"host.peers", "1 of 2 directions allowed"},
      {"host.ram_bytes", "137438953472"},
      {"host.sockets", "2"},
      {"host.swap", "off"},
  };
  EXPECT_EQ(found, wanted);
}

TEST_F(HostCaliber, WhatIsNotKnownHasNoName) {
  facts_ = {};
  sizes_ = {};
  sample_ = {};
  const Caliber found = caliber();
  EXPECT_EQ(found.size(), 1);
  EXPECT_THAT(found, Contains(Key("host.facts_hash")));
}

TEST_F(HostCaliber, AServerElsewhereIsNotDescribedByTheClientsMachine) {
  for (const auto& [name, value] : caliber(HostRole::client)) {
    EXPECT_THAT(name, StartsWith("client."));
  }
  EXPECT_THAT(caliber(HostRole::client), Contains(Pair("client.cpu", "Xeon E5-2697A v4")));
}

TEST_F(HostCaliber, TheHashIsOfWhatStays) {
  const std::string before = caliber()["host.facts_hash"];
  facts_.log.push_back("a line");
  facts_.functions[1].link->now_gts = 16;
  facts_.functions[1].aer_correctable = 5;
  EXPECT_EQ(caliber()["host.facts_hash"], before);
  facts_.functions[1].link->max_gts = 16;
  EXPECT_NE(caliber()["host.facts_hash"], before);
}

// This machine, whatever it is. What is there does not change from one look to the next.
TEST(HostCaliberLive, IsReadHere) {
  const auto found = read_host_caliber(HostRole::server);
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_THAT(*found, Contains(Key("host.facts_hash")));
  const auto again = read_host_caliber(HostRole::server);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(found->at("host.facts_hash"), again->at("host.facts_hash"));
  EXPECT_THAT(*found, Contains(Key("host.ram_bytes")));
  EXPECT_THAT(*found, Not(Contains(Key("client.cpu"))));
}

}  // namespace
}  // namespace evener::bench
