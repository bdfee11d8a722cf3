#include "host/tools_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::host {
namespace {

using testing::SizeIs;

PciAddress at(std::string_view text) { return *parse_pci_address(text); }

Tools read(std::string_view text, const CardOrder& order = {}) {
  Tools tools;
  read_tools(text, order, tools);
  return tools;
}

bool allows(const Tools& tools, std::string_view from, std::string_view to) {
  for (const PeerSeen& peer : tools.peers) {
    if (peer.from == at(from) && peer.to == at(to)) return peer.allowed;
  }
  ADD_FAILURE() << from << " to " << to << " is not there";
  return false;
}

TEST(ToolsText, NvidiasGrantsCarryTheirReason) {
  const CardOrder order{.amd = {}, .nvidia = {at("01:00.0"), at("41:00.0")}};
  const Tools tools = read(" \t\x1b[4mGPU0\tGPU1\t\x1b[0m\n GPU0\tX\tCNS\n GPU1\tOK\tX\n", order);
  ASSERT_THAT(tools.peers, SizeIs(2));
  EXPECT_FALSE(allows(tools, "01:00.0", "41:00.0"));
  EXPECT_EQ(tools.peers[0].reason, "CNS");
  EXPECT_TRUE(allows(tools, "41:00.0", "01:00.0"));
}

TEST(ToolsText, NvidiasTopologyIsReadOncePerPair) {
  const CardOrder order{.amd = {}, .nvidia = {at("01:00.0"), at("41:00.0"), at("81:00.0")}};
  const Tools tools = read(
      "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\nGPU0\t X \tPIX\tNV4\tSYS\t0-63\nGPU1\tPIX\t X "
      "\tNODE\tSYS\t0-63\nGPU2\tNV4\tNODE\t X \tSYS\t0-63\nNIC0\tSYS\tSYS\tSYS\t X\n",
      order);
  ASSERT_THAT(tools.topology, SizeIs(3));
  EXPECT_EQ(tools.topology[0].word, "PIX");
  EXPECT_EQ(tools.topology[1].word, "NV4");
  EXPECT_EQ(tools.topology[2].word, "NODE");
  EXPECT_EQ(tools.topology[2].b, at("81:00.0"));
  EXPECT_TRUE(tools.peers.empty());
}

TEST(ToolsText, ATableOfOtherCardsIsLeftOutAndSaid) {
  const CardOrder order{.amd = {}, .nvidia = {at("01:00.0")}};
  const Tools tools = read("\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n", order);
  EXPECT_TRUE(tools.peers.empty());
  EXPECT_THAT(tools.unclear, SizeIs(1));
}

TEST(ToolsText, RocmsAccessIsReadAndItsWeightsAreNot) {
  const CardOrder order{.amd = {at("03:00.0"), at("06:00.0")}, .nvidia = {}};
  const Tools tools = read(
      "======== Weight between two GPUs ========\n       GPU0   GPU1\nGPU0   0      40\nGPU1   40 "
      "    0\n"
      "======== Access between two GPUs ========\n       GPU0   GPU1\nGPU0   True   False\nGPU1   "
      "True   True\n",
      order);
  ASSERT_THAT(tools.peers, SizeIs(2));
  EXPECT_FALSE(allows(tools, "03:00.0", "06:00.0"));
  EXPECT_TRUE(allows(tools, "06:00.0", "03:00.0"));
}

TEST(ToolsText, CudasTableGoesByBusNumbers) {
  const Tools tools = read(
      "Device: 0, GeForce GTX 1080 Ti, pciBusID: 2, pciDeviceID: 0, pciDomainID:0\n"
      "Device: 1, GeForce GTX 1080 Ti, pciBusID: 82, pciDeviceID: 0, pciDomainID:0\n"
      "P2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     0\n     1\t     1     1\n"
      "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n"
      "     0 380.0   5.0\n     1   5.0 380.0\n"
      "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1 \n"
      "     0 380.0  10.5\n     1   9.5 380.0\n");
  EXPECT_FALSE(allows(tools, "02:00.0", "82:00.0"));
  EXPECT_TRUE(allows(tools, "82:00.0", "02:00.0"));
  ASSERT_THAT(tools.rates, SizeIs(2));
  EXPECT_EQ(tools.rates[0].what, "peer_copy_gbs");
  EXPECT_EQ(tools.rates[0].gb_per_s, 10.5);
}

TEST(ToolsText, TheQueryOfNvidiaSmiGivesMemoryAndPower) {
  Sightings out;
  read_nvidia_query(
      "00000000:41:00.0, NVIDIA GeForce RTX 3090, 24576, 350.00, 550.54\n"
      "junk, x, y, z\n00000000:42:00.0, A, [N/A], [N/A]\n",
      out);
  ASSERT_THAT(out, SizeIs(2));
  const Card& card = out.at(at("41:00.0")).card;
  EXPECT_EQ(card.model, "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(card.vram_bytes, uint64_t{24} << 30);
  EXPECT_EQ(card.power_limit_watts, 350);
  EXPECT_FALSE(out.at(at("42:00.0")).card.vram_bytes.has_value());
}

TEST(ToolsText, DamagedTablesGiveNothing) {
  const Tools tools = read(
      "D/D 0 1\n0 1 1\n1 1\nDevice: x\nDevice: 0,\nGPU0\nGPU0 GPU1\nGPU0\n"
      "GPU99 X OK\n\x1b[4m\x1b\n\x1b");
  EXPECT_TRUE(tools.peers.empty());
  EXPECT_TRUE(tools.rates.empty());
}

}  // namespace
}  // namespace evener::host
