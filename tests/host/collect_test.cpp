// What is captured of a made-up machine, by the program and by the script.
#include "host/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/version.h"
#include "host/capture.h"
#include "host/capture_script.h"
#include "host/fake_machine.h"
#include "host/run_program.h"
#include "host/snapshot_folder.h"

namespace evener::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Snapshot snapshot_of(const FakeMachine& machine) {
  auto collected = collect({.root = machine.root()});
  if (!collected) ADD_FAILURE() << to_string(collected.error());
  return collected ? collected->snapshot : Snapshot{};
}

std::string file_of(const FakeMachine& machine, const std::string& name) {
  return snapshot_of(machine).files[name];
}

TEST(Collect, WritesTheFilesOfASnapshot) {
  const FakeMachine machine;
  std::vector<std::string> names;
  for (const auto& [name, text] : snapshot_of(machine).files) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("MANIFEST", "cmdline.txt", "cpu.txt", "dmesg.txt", "dmi.txt",
                                 "iomem.txt", "kconfig.txt", "kfd.tsv", "lspci.txt", "mod.tsv",
                                 "numa.tsv", "sysfs.tsv", "unread.tsv"));
}

TEST(Collect, KeepsTheOptionsThatMatterAndCountsTheOthers) {
  EXPECT_EQ(file_of(FakeMachine(), "cmdline.txt"),
            "iommu=pt\npci=realloc,noacs\nacpi_osi=\"Linux 2020\"\nother_options=5\n");
}

TEST(Collect, KeepsTheKernelsOptionsAlsoThoseThatAreNotSet) {
  EXPECT_EQ(file_of(FakeMachine(), "kconfig.txt"),
            "CONFIG_PCI_P2PDMA=y\n# CONFIG_HSA_AMD_P2P is not set\n");
}

TEST(Collect, CountsSocketsAndSaysWhetherThisIsAGuest) {
  EXPECT_EQ(file_of(FakeMachine(), "cpu.txt"),
            "vendor_id: GenuineIntel\ncpu family: 6\nmodel: 79\n"
            "model name: Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz\n"
            "address sizes: 46 bits physical, 48 bits virtual\nsockets: 2\nhypervisor: 0\n");
}

TEST(Collect, NeverReadsTheBoardsSerialNumberAndLeavesVersionsAlone) {
  EXPECT_EQ(file_of(FakeMachine(), "dmi.txt"),
            "product_name\tPrecision Tower 7910\nbios_version\t1.2.3.4\n");
}

TEST(Collect, KeepsTheLinesOfTheLogThatMatterAndMasksThem) {
  EXPECT_EQ(file_of(FakeMachine(), "dmesg.txt"),
            "[    1.234567] pci 0000:03:00.0: [1000:c030] type 01 class 0x060400\n"
            "[    2.000000] HOST kernel: pci 0000:00:02.0: peer IP-MASKED at xx:MASKED6\n"
            "[   62.000000] [drm] Detected VRAM RAM=24560M, BAR=256M\n");
}

TEST(Collect, SaysWhenTheLogHasLostItsBeginning) {
  FakeMachine machine;
  machine.write("dev/kmsg", "6,4711,9000000,-;pci 0000:03:00.0: BAR 0: assigned\n");
  EXPECT_THAT(file_of(machine, "unread.tsv"),
              HasSubstr("the kernel's log from the boot on\tits first 4711 lines have been "
                        "overwritten\t"));
}

TEST(Collect, WritesOneLineForEachFieldOfAFunction) {
  const std::string text = file_of(FakeMachine(), "sysfs.tsv");
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/vendor\t0x1002\n"));
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/resource\t0x0000038000000000 0x000003800fffffff "
                              "0x000000000014220c;0x0000000000000000 0x0000000000000000 "
                              "0x0000000000000000\n"));
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/driver\tamdgpu\n"));
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/iommu_group\t31\n"));
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/slot\t3\n"));
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/power1_cap_max\t355000000\n"));
  EXPECT_THAT(text, HasSubstr("0000:07:00.0/path\tpci0000:00/0000:00:02.0/0000:03:00.0/"
                              "0000:04:08.0/0000:07:00.0\n"));
  EXPECT_THAT(text, Not(HasSubstr("unique_id")));
}

TEST(Collect, WakesNoFunctionThatSleeps) {
  const Snapshot snapshot = snapshot_of(FakeMachine());
  const std::string& sysfs = snapshot.files.at("sysfs.tsv");
  EXPECT_THAT(sysfs, HasSubstr("0000:0a:00.0/power_state\tD3hot\n"));
  EXPECT_THAT(sysfs, HasSubstr("0000:07:00.0/current_link_speed\t16.0 GT/s PCIe\n"));
  EXPECT_THAT(sysfs, Not(HasSubstr("0000:0a:00.0/current_link_speed")));
  const std::string& lspci = snapshot.files.at("lspci.txt");
  const std::string sleeper = lspci.substr(lspci.find("0000:0a:00.0"));
  EXPECT_THAT(sleeper, HasSubstr("[1002:744c]\n"));
  EXPECT_THAT(sleeper, Not(HasSubstr("00: ")));
  EXPECT_THAT(snapshot.files.at("unread.tsv"),
              HasSubstr("config space and link of 0000:0a:00.0\tit sleeps"));
}

TEST(Collect, WritesConfigSpaceAsLspciDoesWithoutTheSerialNumber) {
  const std::string text = file_of(FakeMachine(), "lspci.txt");
  const std::string card = text.substr(text.find("0000:07:00.0"));
  EXPECT_THAT(card, HasSubstr("[1002:744c] (rev c8)\n00: 00 00 00 00"));
  EXPECT_THAT(card, HasSubstr("\n140: 00 00 00 00 00 00 00 00 03 00 01 00 00 00 00 00\n"
                              "150: 00 00 00 00 00 00"));
  EXPECT_THAT(card, HasSubstr("\nff0: 00"));
}

TEST(Collect, SaysThatConfigSpaceIsShownToRootOnly) {
  FakeMachine machine;
  machine.write(FakeMachine::device("0000:07:00.0") + "/config", ConfigSpace(64).bytes());
  EXPECT_THAT(file_of(machine, "unread.tsv"),
              HasSubstr("config space of 1 functions beyond its first 64 bytes\tthe kernel shows "
                        "it to root only\tcapture as root (sudo evener snapshot)\n"));
}

TEST(Collect, KeepsWhatTheDriversSayWithoutNumbersOfSingleCards) {
  const Snapshot snapshot = snapshot_of(FakeMachine());
  EXPECT_EQ(snapshot.files.at("kfd.tsv"),
            "1/gpu_id\t46310\n1/properties\tgfx_target_version 110000\n"
            "1/p2p_links/0/properties\tnode_from 1\n1/p2p_links/0/properties\tnode_to 2\n");
  EXPECT_EQ(snapshot.files.at("mod.tsv"),
            "/sys/module/amdgpu/parameters/pcie_p2p\tY\n"
            "/proc/driver/nvidia/gpus/0000:41:00.0/information\tModel: \t\t NVIDIA GeForce RTX "
            "3090\n"
            "/proc/driver/nvidia/gpus/0000:41:00.0/information\tGPU UUID: \t GPU-UUID-MASKED\n");
  EXPECT_EQ(snapshot.files.at("numa.tsv"), "node0\t0-15,32-47\t10 21\n");
}

TEST(Collect, CountsWhatItMasked) {
  const FakeMachine machine;
  const auto collected = collect({.root = machine.root()});
  ASSERT_TRUE(collected.has_value());
  EXPECT_THAT(collected->masked,
              ElementsAre(Pair("IPv4 address", 1), Pair("MAC address", 1), Pair("UUID", 1),
                          Pair("device serial number in config space", 1), Pair("host name", 1)));
  EXPECT_TRUE(check_masked(collected->snapshot).has_value());
}

TEST(Collect, KeepsTheFastestReadingOfALink) {
  FakeMachine machine;
  const FileTree tree(machine.root());
  Capture capture = {
      .tree = tree, .functions = {"0000:07:00.0"}, .kernel_release = {}, .files = {}, .unread = {}};
  LoadSamples samples;
  const std::string speed = FakeMachine::device("0000:07:00.0") + "/current_link_speed";
  for (const char* reading : {"2.5 GT/s PCIe\n", "32.0 GT/s PCIe\n", "8.0 GT/s PCIe\n"}) {
    machine.write(speed, reading);
    samples.take(capture);
  }
  samples.add_to(capture);
  EXPECT_EQ(capture.files.at("load/sysfs.tsv"),
            "0000:07:00.0/current_link_speed\t32.0 GT/s PCIe\n"
            "0000:07:00.0/current_link_width\t16\n");
}

TEST(Collect, AContainerWithoutSysfsIsAnErrorThatSaysWhatToDo) {
  FakeMachine machine;
  machine.remove("sys/bus");
  const auto collected = collect({.root = machine.root()});
  ASSERT_FALSE(collected.has_value());
  EXPECT_EQ(to_string(collected.error()),
            "cannot read this machine: " + (machine.root() / "sys/bus/pci/devices").string() +
                ": there is none\n  in a container or a sandbox, run this on the host itself, or "
                "capture there with the script of 'evener snapshot --script'");
}

TEST(Collect, SurvivesAMachineThatShowsFunctionsAndNothingElse) {
  FakeMachine machine;
  for (const char* folder : {"proc", "boot", "dev", "var", "sys/class", "sys/module"})
    machine.remove(folder);
  const Snapshot snapshot = snapshot_of(machine);
  EXPECT_TRUE(snapshot.files.contains("sysfs.tsv"));
  EXPECT_FALSE(snapshot.files.contains("cmdline.txt"));
  EXPECT_THAT(snapshot.files.at("unread.tsv"), HasSubstr("the CPU\tthere is none\t"));
}

TEST(Collect, WhatWentUnreadComesBackOutOfTheSnapshot) {
  const Snapshot snapshot = {.files = {{"unread.tsv", "log\tdenied\tbe root\nodd line\n"}},
                             .origin = {}};
  const std::vector<Missing> unread = unread_of(snapshot);
  ASSERT_EQ(unread.size(), 2U);
  EXPECT_EQ(unread[0].what, "log");
  EXPECT_EQ(unread[0].why, "denied");
  EXPECT_EQ(unread[0].remedy, "be root");
  EXPECT_EQ(unread[1].what, "odd line");
}

// The script knows no names of devices and takes its log from elsewhere; all else is the same.
std::string without_names(const std::string& lspci) {
  std::string text;
  for (size_t at = 0; at < lspci.size();) {
    const size_t end = lspci.find('\n', at);
    std::string line = lspci.substr(at, end - at);
    if (line.starts_with("0000:")) line = line.substr(0, 12) + line.substr(line.rfind(" ["));
    text += line + "\n";
    at = end + 1;
  }
  return text;
}

class Script : public testing::Test {
 protected:
  Result<std::string> run(const std::vector<std::string>& words) {
    const std::string path = (folder_.path() / "capture.sh").string();
    std::ofstream(path) << capture_script();
    std::vector<std::string> arguments = {path};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return run_program("/bin/sh", arguments, {});
  }
  std::string out() const { return (folder_.path() / "capture").string(); }

  FakeMachine machine_;

 private:
  TemporaryFolder folder_;
};

TEST_F(Script, WritesWhatTheProgramWrites) {
  const auto output = run({"-r", machine_.root(), "-l", "1", out()});
  ASSERT_TRUE(output.has_value()) << to_string(output.error());
  auto captured = read_snapshot_folder(out());
  ASSERT_TRUE(captured.has_value()) << to_string(captured.error());
  auto collected = collect({.root = machine_.root(), .num_load_samples = 1});
  ASSERT_TRUE(collected.has_value());
  auto& ours = collected->snapshot.files;
  auto& theirs = captured->files;
  ours["lspci.txt"] = without_names(ours["lspci.txt"]);
  theirs["lspci.txt"] = without_names(theirs["lspci.txt"]);
  EXPECT_THAT(theirs["MANIFEST"], HasSubstr("\nkernel=6.8.0-31-generic\n"));
  for (const char* name : {"MANIFEST", "unread.tsv"}) {
    ours.erase(name);
    theirs.erase(name);
  }
  EXPECT_EQ(theirs, ours);
}

TEST_F(Script, RefusesToMixTwoCaptures) {
  std::filesystem::create_directory(out());
  const auto output = run({"-r", machine_.root(), out()});
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().why, "ended with status 1");
}

}  // namespace
}  // namespace evener::host
