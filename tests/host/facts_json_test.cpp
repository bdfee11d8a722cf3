#include "host/facts_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_data.h"

namespace evener::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

HostFacts read(std::string_view text) {
  auto facts = facts_from_json(text, "facts.json");
  EXPECT_TRUE(facts.has_value()) << to_string(facts.error());
  return facts ? *std::move(facts) : HostFacts{};
}

std::string refusal(std::string_view text) {
  const auto facts = facts_from_json(text, "facts.json");
  return facts ? "was read" : to_string(facts.error());
}

constexpr std::string_view kCard = R"({
 "gpus": [{"name": "X", "model": "Radeon", "bdf": "05:00.0", "id": "1002:744c", "gfx": "gfx1100",
   "vram": 25753026560, "parent": "00:02.0",
   "bar": {"index": 0, "bytes": 268435456, "base": "0x380400000000"},
   "rebar_supported": [268435456, 34359738368], "dma_mask_bits": 44, "driver": "amdgpu",
   "kfd": true}],
 "ports": [{"bdf": "00:02.0", "id": "8086:6f04", "kind": "root", "parent": "0000:00",
   "pref_bytes": 807403520, "acs": {"rr": 1, "cr": 0, "ec": 0},
   "link": {"max_gts": 8.0, "max_w": 16, "now_gts": 2.5, "now_w": 16, "under_load": false}}]
})";

TEST(FactsJson, ACardAndItsPortAreRead) {
  const HostFacts facts = read(kCard);
  ASSERT_EQ(facts.gpus.size(), 1U);
  const Gpu& gpu = facts.gpus[0];
  EXPECT_EQ(gpu.name, "X");
  EXPECT_EQ(gpu.function, "0000:05:00.0");
  EXPECT_EQ(gpu.vram_bytes, 25753026560U);
  EXPECT_EQ(gpu.vram_bar, 0U);
  EXPECT_EQ(gpu.in_kfd, true);
  EXPECT_FALSE(gpu.visible_vram_bytes.has_value());

  const Function& function = function_at(facts, "0000:05:00.0");
  EXPECT_EQ(function.parent, "0000:00:02.0");
  EXPECT_EQ(function.dma_mask_bits, 44U);
  ASSERT_EQ(function.bars.size(), 1U);
  EXPECT_EQ(function.bars[0].base, 0x380400000000U);
  EXPECT_EQ(function.bars[0].size_bytes, 256 * kMiB);
  EXPECT_THAT(*function.bars[0].resizable, ElementsAre(256 * kMiB, 32 * kGiB));
  EXPECT_FALSE(function.is_bridge);

  const Function& port = function_at(facts, "0000:00:02.0");
  EXPECT_EQ(port.port, PortKind::root);
  EXPECT_EQ(port.prefetchable.size_bytes, 770 * kMiB);
  EXPECT_TRUE(port.acs->redirects());
  EXPECT_FALSE(port.acs->completion_redirect());
  EXPECT_EQ(port.link->now_gts, 2.5);
  EXPECT_EQ(port.link->under_load, false);
}

TEST(FactsJson, WhatIsNullStaysUnknown) {
  const HostFacts facts = read(R"({"iommu": null, "kernel": {"cmdline": null},
    "ports": [{"bdf": "p", "kind": null, "parent": null, "pref_bytes": null, "acs": null,
               "link": null}], "complete": false})");
  EXPECT_FALSE(facts.iommu.has_value());
  EXPECT_FALSE(facts.kernel.command_line.has_value());
  const Function& port = function_at(facts, "p");
  EXPECT_TRUE(port.is_bridge);
  EXPECT_FALSE(port.address.has_value());
  EXPECT_FALSE(port.port.has_value());
  EXPECT_TRUE(port.parent.empty());
  EXPECT_FALSE(port.acs.has_value());
  EXPECT_FALSE(port.link.has_value());
  EXPECT_FALSE(facts.complete);
}

TEST(FactsJson, APortWithoutTheCapabilityIsNotAnUnknownOne) {
  const Function port = function_at(read(R"({"ports": [{"bdf": "p", "acs": "none"}]})"), "p");
  ASSERT_TRUE(port.acs.has_value());
  EXPECT_FALSE(port.acs->present);
  EXPECT_FALSE(port.acs->redirects());
}

TEST(FactsJson, AnAddressThatWasMadeUpIsALabel) {
  const HostFacts facts = read(R"({"gpus": [{"bdf": "a3:00.0"}, {"bdf": "a5:00.0"}],
    "placeholders": ["gpus[1].bdf"]})");
  EXPECT_TRUE(function_at(facts, "0000:a3:00.0").address.has_value());
  EXPECT_FALSE(function_at(facts, "0000:a5:00.0").address.has_value());
  const HostFacts all =
      read(R"({"gpus": [{"bdf": "a3:00.0"}], "placeholders": ["gpus[*].bdf, x"]})");
  EXPECT_FALSE(function_at(all, "0000:a3:00.0").address.has_value());
}

TEST(FactsJson, ObservationsAreSortedAndTheRestIsKept) {
  const HostFacts facts = read(R"({"observed": {
    "peer": [["A","B",true], ["B","A",false,"CNS"]], "h2d_gbs": {"A": 12.5}, "staged_gbs": 9.6,
    "copy_gbs": [1, 2.5], "odd_gbs": "fast", "data_check": "none on stock kernel",
    "stability": "hangs", "tools": {"topo-m": "PHB"}}})");
  const Observed& seen = facts.observed;
  ASSERT_EQ(seen.peers.size(), 2U);
  EXPECT_TRUE(seen.peers[0].allowed);
  EXPECT_EQ(seen.peers[1].reason, "CNS");
  ASSERT_EQ(seen.rates.size(), 4U);
  EXPECT_EQ(seen.rates[2].what, "h2d_gbs");
  EXPECT_EQ(seen.rates[2].of, "A");
  EXPECT_EQ(seen.data_check, "none");
  EXPECT_EQ(seen.other["data_check"], "none on stock kernel");
  EXPECT_EQ(seen.other["odd_gbs"], "fast");
  EXPECT_EQ(seen.other["tools"]["topo-m"], "PHB");
}

// Every member of HostFacts set to something that is not its default.
HostFacts full_facts() {
  HostFacts facts;
  facts.machine = {.board = "Dell",
                   .bios = "A34",
                   .cpu = "Xeon",
                   .cpu_vendor = "GenuineIntel",
                   .cpu_family = 6,
                   .cpu_model = 79,
                   .num_sockets = 2,
                   .physical_address_bits = 46,
                   .guest = false,
                   .numa_nodes = {{.node = 1, .cpus = "0-3", .distances = {10, 21}}}};
  facts.kernel = {.release = "7.0.14",
                  .config = {{"CONFIG_PCI_P2PDMA", "y"}},
                  .module_parameters = {{"amdgpu.pcie_p2p", "y"}},
                  .command_line = "iommu=pt",
                  .unknown_options = {"noacs"},
                  .patches = {"headroom"}};
  facts.iommu = IommuMode::identity;
  RootBus& root = facts.roots.emplace_back();
  root.bus = "0000:00";
  root.first = {.name = "0000:00:00.0", .id = PciId{0x8086, 0x6f00}, .is_root_port = false};
  root.numa_node = 0;
  root.memory_64 = {.base = 0xc000000000, .size_bytes = 256 * kGiB};
  root.memory_below = {{.base = 0xd0000000, .size_bytes = kGiB / 4}};

  Function port;
  port.name = "0000:00:02.0";
  port.address = parse_pci_address(port.name);
  port.id = PciId{0x8086, 0x6f04};
  port.class_code = 0x060400;
  port.description = "Root Port 2";
  port.parent = "0000:00";
  port.port = PortKind::root;
  port.is_bridge = true;
  port.slot = "4";
  port.prefetchable = {.base = 0xc000000000, .size_bytes = 33 * kGiB};
  port.memory = {.base = 0xd0000000, .size_bytes = kMiB};
  port.acs = Acs{.present = true, .control = 0x1d};
  port.atomics = Atomics{
      .routing = true, .completer_32 = true, .completer_64 = false, .requester_enabled = {}};
  port.iommu_group = 7;
  port.aer_correctable = 12;
  facts.functions.push_back(port);

  Function card;
  card.name = "0000:05:00.0";
  card.address = parse_pci_address(card.name);
  card.subsystem = PciId{0x1da2, 0x471e};
  card.parent = port.name;
  card.bars = {{.index = 0,
                .size_bytes = 256 * kMiB,
                .base = 0xc000000000,
                .prefetchable = true,
                .is_64_bit = true,
                .resizable = std::vector<uint64_t>{256 * kMiB}},
               {.index = 5,
                .size_bytes = kMiB,
                .base = 0xd0000000,
                .prefetchable = false,
                .is_64_bit = false,
                .resizable = {}}};
  card.link =
      Link{.max_gts = 16, .max_width = 16, .now_gts = 8, .now_width = 8, .under_load = true};
  card.iommu = IommuMode::translated;
  card.numa_node = -1;
  card.driver = "";
  card.dma_mask_bits = 44;
  card.suspended = true;
  facts.functions.push_back(card);

  Function nic;
  nic.name = "0000:09:00.0";
  nic.address = parse_pci_address(nic.name);
  nic.bars = {{.index = 2,
               .size_bytes = 0,
               .base = {},
               .prefetchable = {},
               .is_64_bit = {},
               .resizable = {}}};
  facts.functions.push_back(nic);

  facts.gpus = {{.name = "A",
                 .function = card.name,
                 .model = "Radeon",
                 .gfx = "gfx1100",
                 .vram_bytes = 24 * kGiB,
                 .visible_vram_bytes = 256 * kMiB,
                 .vram_bar = 0,
                 .in_kfd = true,
                 .power_limit_watts = 300.5}};
  facts.log = {"a line"};
  PeerObservation& peer = facts.observed.peers.emplace_back();
  peer.from = "A";
  peer.to = "B";
  peer.reason = "CNS";
  facts.observed.rates = {{"h2d_gbs", "A", 12.5}};
  facts.observed.data_check = "pass";
  facts.observed.stability = "fine";
  facts.observed.other = {{"application", "served"}};
  facts.placeholders = {"roots[0]"};
  facts.missing = {{"ACS", "64 bytes", "as root"}};
  facts.contradictions = {"two words"};
  facts.complete = true;
  return facts;
}

TEST(FactsJson, WhatWasWrittenReadsBackAsItWas) {
  const HostFacts facts = full_facts();
  const std::string text = facts_to_json(facts);
  const HostFacts again = read(text);
  EXPECT_EQ(facts_to_json(again), text);

  EXPECT_EQ(again.machine.numa_nodes[0].distances, facts.machine.numa_nodes[0].distances);
  EXPECT_EQ(again.kernel.module_parameters[0].value, "y");
  EXPECT_EQ(again.iommu, IommuMode::identity);
  EXPECT_EQ(again.roots[0].memory_below[0].base, 0xd0000000U);
  ASSERT_EQ(again.functions.size(), 3U);
  const Function& port = function_at(again, "0000:00:02.0");
  EXPECT_EQ(port.acs->control, 0x1d);
  EXPECT_EQ(port.memory.size_bytes, kMiB);
  EXPECT_EQ(port.atomics->completer_64, false);
  EXPECT_FALSE(port.atomics->requester_enabled.has_value());
  EXPECT_EQ(port.aer_correctable, 12U);
  EXPECT_EQ(port.class_code, 0x060400U);
  const Function& card = function_at(again, "0000:05:00.0");
  ASSERT_EQ(card.bars.size(), 2U);
  EXPECT_EQ(card.bars[1].index, 5U);
  EXPECT_EQ(card.bars[1].prefetchable, false);
  EXPECT_EQ(card.driver, "");
  EXPECT_EQ(card.numa_node, -1);
  EXPECT_EQ(card.suspended, true);
  EXPECT_EQ(function_at(again, "0000:09:00.0").bars[0].size_bytes, 0U);
  EXPECT_EQ(again.gpus[0].power_limit_watts, 300.5);
  EXPECT_EQ(again.observed.peers[0].reason, "CNS");
  EXPECT_EQ(again.missing[0].remedy, "as root");
  EXPECT_EQ(again.contradictions, facts.contradictions);
  EXPECT_TRUE(again.complete);
}

TEST(FactsJson, AWrongFieldIsNamed) {
  EXPECT_EQ(refusal(R"({"gpus": [{"bdf": "05:00.0", "vram": "24G"}]})"),
            "cannot read the facts of a machine: facts.json, gpus[0], field 'vram': is a text, not "
            "a whole number from 0 on");
  EXPECT_EQ(refusal(R"({"gpus": [{"bar": {"base": "high"}}]})"),
            "cannot read the facts of a machine: facts.json, gpus[0], field 'bar.base': is not a "
            "hexadecimal address such as 0x380400000000");
  EXPECT_EQ(refusal(R"({"ports": [{"kind": "top"}]})"),
            "cannot read the facts of a machine: facts.json, ports[0], field 'kind': is none of "
            "root, sw-up, sw-down, card-up, card-down");
}

TEST(FactsJson, AbsurdValuesAreRefused) {
  EXPECT_THAT(refusal(R"({"gpus": [{"vram": 18446744073709551615}]})"), HasSubstr("vram"));
  EXPECT_THAT(refusal(R"({"gpus": [{"bar": {"base": "0xffffffffffffffff"}}]})"),
              HasSubstr("above every address"));
  EXPECT_THAT(refusal(R"({"gpus": [{"id": "8086"}]})"), HasSubstr("8086:6f00"));
  EXPECT_THAT(refusal(R"({"host": {"sockets": 100000}})"), HasSubstr("sockets"));
  EXPECT_THAT(refusal(R"({"ports": [{"link": {"now_gts": -1}}]})"), HasSubstr("less than 0"));
  EXPECT_THAT(refusal(R"({"ports": [{"acs": {"rr": 2}}]})"), HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(refusal(R"({"observed": {"peer": [["A","B"]]}})"), HasSubstr("peer"));
  EXPECT_THAT(refusal(R"({"roots": {}})"), HasSubstr("is not a list"));
}

TEST(FactsJson, TwoDevicesOfOneNameAreRefused) {
  EXPECT_THAT(refusal(R"({"ports": [{"bdf": "05:00.0"}], "gpus": [{"bdf": "0000:05:00.0"}]})"),
              HasSubstr("names '0000:05:00.0', which another device has"));
  EXPECT_THAT(refusal(R"({"gpus": [{"bdf": "a", "name": "X"}, {"bdf": "b", "name": "X"}]})"),
              HasSubstr("two cards that are called 'X'"));
}

TEST(FactsJson, WhatIsNoFactsFileIsRefused) {
  EXPECT_THAT(refusal("{"), HasSubstr("cannot read the facts of a machine: facts.json"));
  EXPECT_THAT(refusal("[]"), HasSubstr("is a list, not an object"));
  EXPECT_THAT(refusal(R"({"schema": 2})"), HasSubstr("is 2, and this Evener knows 1"));
}

TEST(FactsJson, TenThousandDevicesAreReadAtOnce) {
  std::string text = R"({"devices": [{"bdf": "d0"})";
  for (int i = 1; i < 10'000; ++i) {
    text +=
        R"(,{"bdf": "d)" + std::to_string(i) + R"(", "parent": "d)" + std::to_string(i - 1) + "\"}";
  }
  const HostFacts facts = read(text + "]}");
  EXPECT_EQ(facts.functions.size(), 10'000U);
  EXPECT_EQ(ancestors(facts, "d9999").ports.size(), 256U);
  EXPECT_EQ(ancestors(facts, "d2").ports.size(), 2U);
}

}  // namespace
}  // namespace evener::host
