// Three whole machines, written by tests/data/host/snapshots/make_snapshots.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/facts_json.h"
#include "host_data.h"

namespace evener::host {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> way_up(const HostFacts& facts, const std::string& name) {
  std::vector<std::string> names;
  const Ancestors above = ancestors(facts, name);
  for (const Function* port : above.ports) names.push_back(port->name);
  names.push_back(above.root != nullptr ? above.root->bus : "unknown");
  return names;
}

std::string peers_of(const HostFacts& facts) {
  std::string text;
  for (const PeerObservation& peer : facts.observed.peers) {
    text += peer.from + (peer.allowed ? ">" : "x") + peer.to + peer.reason + " ";
  }
  return text;
}

TEST(Snapshots, TheDellWithASwitchIsReadWhole) {
  const HostFacts facts = facts_in(snapshot_in("snapshots/t7910"));
  EXPECT_THAT(facts.contradictions, IsEmpty());
  EXPECT_THAT(facts.missing, IsEmpty());
  EXPECT_TRUE(facts.complete);

  EXPECT_EQ(facts.machine.board, "Dell Inc. Precision Tower 7910");
  EXPECT_EQ(facts.machine.num_sockets, 2U);
  EXPECT_EQ(facts.machine.numa_nodes.size(), 2U);
  EXPECT_EQ(facts.kernel.release, "7.0.14-p2pdma");
  EXPECT_EQ(facts.kernel.command_line, "pci=realloc");
  EXPECT_EQ(facts.iommu, IommuMode::off);

  ASSERT_EQ(facts.roots.size(), 2U);
  EXPECT_EQ(facts.roots[0].first.id, (PciId{0x8086, 0x6f00}));
  EXPECT_EQ(facts.roots[0].first.is_root_port, false);
  EXPECT_EQ(facts.roots[0].memory_64.size_bytes, 256 * kGiB);
  EXPECT_EQ(facts.roots[1].bus, "0000:a0");
  EXPECT_EQ(facts.roots[1].first.name, "0000:a0:02.0");
  EXPECT_EQ(facts.roots[1].first.is_root_port, true);
  EXPECT_EQ(facts.roots[1].numa_node, 1);

  ASSERT_EQ(facts.gpus.size(), 4U);
  EXPECT_EQ(facts.gpus[2].function, "0000:a5:00.0");
  EXPECT_EQ(facts.gpus[2].gfx, "gfx1100");
  EXPECT_EQ(facts.gpus[2].vram_bytes, 25753026560U);
  EXPECT_EQ(facts.gpus[2].visible_vram_bytes, 256 * kMiB);
  EXPECT_EQ(facts.gpus[2].power_limit_watts, 300);
  EXPECT_THAT(way_up(facts, "0000:a5:00.0"),
              ElementsAre("0000:a4:00.0", "0000:a3:00.0", "0000:a2:00.0", "0000:a1:00.0",
                          "0000:a0:02.0", "0000:a0"));
  EXPECT_EQ(function_at(facts, "0000:a3:00.0").port, PortKind::card_up);
  EXPECT_EQ(function_at(facts, "0000:a4:00.0").port, PortKind::card_down);
  EXPECT_EQ(function_at(facts, "0000:a2:00.0").port, PortKind::switch_down);
  EXPECT_FALSE(function_at(facts, "0000:a2:00.0").acs->redirects());
  EXPECT_TRUE(function_at(facts, "0000:00:02.0").acs->redirects());
  EXPECT_EQ(function_at(facts, "0000:a0:02.0").prefetchable.size_bytes, 770 * kMiB);
  const Function& card = function_at(facts, "0000:a5:00.0");
  EXPECT_EQ(bar_of(card, 0)->size_bytes, 256 * kMiB);
  EXPECT_EQ(bar_of(card, 0)->resizable->back(), 32 * kGiB);
  EXPECT_EQ(card.dma_mask_bits, 44U);
  EXPECT_EQ(peers_of(facts), "A>B B>A AxC AxD BxC BxD CxA CxB CxD DxA DxB DxC ");
  EXPECT_THAT(facts.log, Contains(HasSubstr("was not released")));
}

TEST(Snapshots, LinksUnderLoadReplaceThoseThatRest) {
  const HostFacts facts = facts_in(snapshot_in("snapshots/x99"));
  EXPECT_THAT(facts.contradictions, IsEmpty());
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(facts.machine.board, "HUANANZHI X99-TF GAMING V6.0");
  EXPECT_EQ(facts.iommu, IommuMode::translated);
  const Link fast = *function_at(facts, "0000:00:02.0").link;
  EXPECT_EQ(fast.now_gts, 8);
  EXPECT_EQ(fast.now_width, 16U);
  EXPECT_EQ(fast.under_load, true);
  const Link narrow = *function_at(facts, "0000:06:00.0").link;
  EXPECT_EQ(narrow.now_width, 8U);
  EXPECT_EQ(narrow.max_width, 16U);
  const Link inner = *function_at(facts, "0000:05:00.0").link;
  EXPECT_EQ(inner.under_load, false);
  EXPECT_EQ(bar_of(function_at(facts, "0000:08:00.0"), 0)->base, 0x381000000000U);
}

TEST(Snapshots, AWordOfNvidiaGoesToItsPair) {
  const HostFacts facts = facts_in(snapshot_in("snapshots/epyc"));
  EXPECT_THAT(facts.contradictions, IsEmpty());
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(facts.iommu, IommuMode::identity);
  ASSERT_EQ(facts.gpus.size(), 4U);
  EXPECT_EQ(facts.gpus[3].model, "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(facts.gpus[3].vram_bytes, 24 * kGiB);
  EXPECT_EQ(facts.gpus[3].vram_bar, 1U);
  EXPECT_FALSE(facts.gpus[3].in_kfd.has_value());
  EXPECT_EQ(facts.observed.peers.size(), 12U);
  EXPECT_EQ(facts.observed.peers[0].reason, "CNS");
  EXPECT_EQ(facts.observed.other["tools"]["nvidia-topo-m"]["A-D"], "NODE");
  EXPECT_EQ(facts.roots.size(), 4U);
  EXPECT_EQ(facts.roots[3].first.id, (PciId{0x1022, 0x1480}));
  EXPECT_EQ(function_at(facts, "0000:c0:01.1").link->now_width, 8U);
  EXPECT_EQ(facts.machine.cpu_family, 23U);
}

TEST(Snapshots, FactsOfAMachineSurviveTheirFile) {
  for (const char* name : {"snapshots/t7910", "snapshots/x99", "snapshots/epyc"}) {
    const std::string text = facts_to_json(facts_in(snapshot_in(name)));
    const auto again = facts_from_json(text, name);
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(facts_to_json(*again), text) << name;
  }
}

// Registers, sysfs and decoded text were written from one description: each alone gives the same.
TEST(Snapshots, EveryTextAloneGivesTheSameTree) {
  const Snapshot whole = snapshot_in("snapshots/t7910");
  const HostFacts all = facts_in(whole);
  for (const char* file : {"lspci.txt", "sysfs.tsv"}) {
    const HostFacts alone = facts_in({.files = {{file, whole.files.at(file)}}, .origin = file});
    ASSERT_EQ(alone.functions.size(), all.functions.size()) << file;
    EXPECT_EQ(way_up(alone, "0000:a5:00.0"), way_up(all, "0000:a5:00.0")) << file;
    for (const Function& function : all.functions) {
      const Function& same = function_at(alone, function.name);
      EXPECT_EQ(same.port, function.port) << file << function.name;
      EXPECT_EQ(same.prefetchable.size_bytes, function.prefetchable.size_bytes) << function.name;
      EXPECT_EQ(same.bars.size(), function.bars.size()) << function.name;
    }
    EXPECT_EQ(alone.roots[1].first.is_root_port, true);
    EXPECT_FALSE(alone.complete);
  }
}

std::string without_registers(const std::string& lspci) {
  std::string text;
  for (size_t at = 0; at < lspci.size();) {
    const size_t end = lspci.find('\n', at) + 1;
    const std::string line = lspci.substr(at, end - at);
    if (line.find(": ") > 3 || line.starts_with("\t")) text += line;
    at = end;
  }
  return text;
}

TEST(Snapshots, TheDecodedTextSaysWhatTheRegistersSay) {
  const Snapshot whole = snapshot_in("snapshots/t7910");
  const std::string text = without_registers(whole.files.at("lspci.txt"));
  ASSERT_LT(text.size(), whole.files.at("lspci.txt").size() / 2);
  const HostFacts decoded = facts_in({.files = {{"lspci.txt", text}}, .origin = "text"});
  const HostFacts all = facts_in(whole);
  for (const Function& function : all.functions) {
    const Function& same = function_at(decoded, function.name);
    EXPECT_EQ(same.id, function.id);
    EXPECT_EQ(same.parent, function.parent) << function.name;
    EXPECT_EQ(same.port, function.port) << function.name;
    EXPECT_EQ(same.acs->control, function.acs->control) << function.name;
    EXPECT_EQ(same.prefetchable.base, function.prefetchable.base) << function.name;
    EXPECT_EQ(same.memory.size_bytes, function.memory.size_bytes) << function.name;
    ASSERT_EQ(same.bars.size(), function.bars.size()) << function.name;
    for (const Bar& bar : function.bars) {
      EXPECT_EQ(bar_of(same, bar.index)->size_bytes, bar.size_bytes) << function.name;
      EXPECT_EQ(bar_of(same, bar.index)->base, bar.base) << function.name;
      EXPECT_EQ(bar_of(same, bar.index)->resizable, bar.resizable) << function.name;
    }
    EXPECT_EQ(same.link.has_value(), function.link.has_value()) << function.name;
    const Link none;
    EXPECT_EQ(same.link.value_or(none).now_width, function.link.value_or(none).now_width);
  }
}

TEST(Snapshots, RegistersWinOverTextAndTheReaderIsTold) {
  Snapshot snapshot = snapshot_in("snapshots/t7910");
  std::string& sysfs = snapshot.files["sysfs.tsv"];
  const std::string row = "0000:a5:00.0/device\t0x744c";
  sysfs.replace(sysfs.find(row), row.size(), "0000:a5:00.0/device\t0x7551");
  const HostFacts facts = facts_in(snapshot);
  EXPECT_EQ(function_at(facts, "0000:a5:00.0").id, (PciId{0x1002, 0x744c}));
  EXPECT_THAT(
      facts.contradictions,
      Contains("0000:a5:00.0: the id is 1002:744c in lspci.txt (registers) and 1002:7551 in "
               "sysfs.tsv; lspci.txt (registers) is believed"));
}

TEST(Snapshots, WindowsLineEndsAndUnknownFilesChangeNothing) {
  Snapshot snapshot = snapshot_in("snapshots/x99");
  const std::string before = facts_to_json(facts_in(snapshot));
  for (auto& [name, text] : snapshot.files) {
    std::string with_returns;
    for (const char c : text) with_returns += c == '\n' ? "\r\n" : std::string(1, c);
    text = with_returns;
  }
  snapshot.files["photo.jpg"] = "\xff\xd8\xff";
  EXPECT_EQ(facts_to_json(facts_in(snapshot)), before);
}

TEST(Snapshots, WithoutRootWhatIsMissingIsNamed) {
  Snapshot snapshot = snapshot_in("snapshots/t7910");
  snapshot.files["lspci.txt"] =
      "0000:00:00.0 Host bridge [0600]: Intel [8086:6f00]\n"
      "\tCapabilities: <access denied>\n";
  snapshot.files["iomem.txt"] = "00000000-00000000 : PCI Bus 0000:00\n";
  snapshot.files.erase("dmesg.txt");
  snapshot.files.erase("kconfig.txt");
  const HostFacts facts = facts_in(snapshot);
  std::string said;
  for (const Missing& missing : facts.missing) {
    said += missing.what + ": " + missing.why + " -> " + missing.remedy + "\n";
  }
  EXPECT_THAT(said, HasSubstr("ACS control and Resizable BAR of 0000:00:02.0"));
  EXPECT_THAT(said, HasSubstr("sudo evener snapshot"));
  EXPECT_THAT(said, HasSubstr("iomem.txt has only zeros"));
  EXPECT_THAT(said, HasSubstr("kernel log"));
  EXPECT_THAT(said, HasSubstr("build options"));
  EXPECT_FALSE(facts.complete);
  EXPECT_FALSE(facts.roots[0].memory_64.size_bytes.has_value());
  EXPECT_FALSE(function_at(facts, "0000:00:02.0").acs.has_value());
  EXPECT_EQ(function_at(facts, "0000:00:02.0").port, PortKind::root);  // from where it sits
}

TEST(Snapshots, ACardThatLostItsBarIsNotTakenForOneWithoutBars) {
  Snapshot snapshot = snapshot_in("snapshots/t7910");
  snapshot.files.erase("lspci.txt");
  snapshot.files.erase("dmesg.txt");
  std::string& sysfs = snapshot.files["sysfs.tsv"];
  const size_t at = sysfs.find("0000:a5:00.0/resource\t");
  const size_t end = sysfs.find('\n', at);
  std::string none = "0000:a5:00.0/resource\t";
  for (int i = 0; i < 7; ++i) none += "0x0000000000000000 0x0000000000000000 0x0000000000000000;";
  sysfs.replace(at, end - at, none);
  const HostFacts facts = facts_in(snapshot);
  const Bar* bar = bar_of(function_at(facts, "0000:a5:00.0"), 0);
  ASSERT_NE(bar, nullptr);
  EXPECT_EQ(bar->size_bytes, 0U);
}

TEST(Snapshots, AMaskThatWasNotReadComesFromATableAndSaysSo) {
  Snapshot snapshot = snapshot_in("snapshots/t7910");
  std::string& sysfs = snapshot.files["sysfs.tsv"];
  const std::string row = "0000:a5:00.0/dma_mask_bits\t44\n";
  sysfs.replace(sysfs.find(row), row.size(), "");
  const HostFacts facts = facts_in(snapshot);
  EXPECT_EQ(function_at(facts, "0000:a5:00.0").dma_mask_bits, 44U);
  EXPECT_THAT(facts.placeholders,
              ElementsAre("gpus[2].dma_mask_bits (table by gfx1100, not read)"));
}

TEST(Snapshots, AnEmptySnapshotIsRefused) {
  const auto facts = facts_of({.files = {{"sysfs.tsv", "\n"}, {"x", "y"}}, .origin = "s.tar"});
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, Code::corrupt);
  EXPECT_THAT(to_string(facts.error()),
              HasSubstr("cannot read the facts of a machine: s.tar: has no text of lspci"));
}

}  // namespace
}  // namespace evener::host
