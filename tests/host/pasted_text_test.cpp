#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_data.h"

namespace evener::host {
namespace {

using testing::Contains;
using testing::HasSubstr;

// As in a forum: a prompt before each command, quoted by whoever answers, Windows line ends.
constexpr std::string_view kPost =
    "Hi, my two cards do not see each other:\r\n"
    "> user@box:~$ sudo dmesg | grep -i amdgpu\r\n"
    "> [    4.2] amdgpu 0000:03:00.0: amdgpu: Detected VRAM RAM=24560M, BAR=256M\r\n"
    "> user@box:~$ lspci -tv\r\n"
    "> -[0000:00]-+-00.0  Intel Corporation Xeon DMI2\r\n"
    ">            +-02.0-[03]----00.0  AMD Navi 31 [Radeon RX 7900 XTX]\r\n"
    ">            \\-03.0-[04]----00.0  NVIDIA Corporation GA102\r\n"
    "> user@box:~$ lspci -nn\r\n"
    "> 00:00.0 Host bridge [0600]: Intel Corporation Xeon DMI2 [8086:6f00] (rev 01)\r\n"
    "> 00:02.0 PCI bridge [0604]: Intel Corporation Xeon Root Port [8086:6f04] (rev 01)\r\n"
    "> 03:00.0 VGA compatible controller [0300]: AMD Navi 31 [Radeon RX 7900 XTX] [1002:744c] (rev "
    "c8)\r\n"
    "> 04:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [10de:2204] (rev a1)\r\n"
    "> user@box:~$ cat /proc/cmdline\r\n"
    "> BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet iommu=pt\r\n"
    "> user@box:~$ grep P2PDMA /boot/config\r\n"
    "> CONFIG_PCI_P2PDMA=y\r\n"
    "Thanks!\r\n";

TEST(PastedText, AForumPostIsReadInAnyOrder) {
  const HostFacts facts = facts_of_pasted(kPost);
  ASSERT_EQ(facts.gpus.size(), 2U);
  EXPECT_EQ(facts.gpus[0].gfx, "gfx1100");
  EXPECT_EQ(facts.gpus[0].model, "Radeon RX 7900 XTX");
  EXPECT_EQ(facts.gpus[0].vram_bytes, 24560 * kMiB);
  EXPECT_EQ(function_at(facts, "0000:03:00.0").parent, "0000:00:02.0");
  EXPECT_EQ(function_at(facts, "0000:04:00.0").parent, "0000:00:03.0");
  ASSERT_EQ(facts.roots.size(), 1U);
  EXPECT_EQ(facts.roots[0].first.id, (PciId{0x8086, 0x6f00}));
  EXPECT_EQ(facts.kernel.command_line, "ro quiet iommu=pt");
  ASSERT_EQ(facts.kernel.config.size(), 1U);  // what nobody pasted is not "n"
  EXPECT_FALSE(facts.iommu.has_value());      // an option alone does not show that one is active
}

TEST(PastedText, WhatCouldNotBeKnownFromItIsSaid) {
  const HostFacts facts = facts_of_pasted(kPost);
  std::string said;
  for (const Missing& missing : facts.missing) said += missing.what + ": " + missing.why + "\n";
  EXPECT_THAT(said, HasSubstr("ACS control and Resizable BAR"));
  EXPECT_THAT(said, HasSubstr("drivers, DMA masks and IOMMU groups"));
  EXPECT_THAT(said, HasSubstr("the VRAM of B (0000:04:00.0)"));
  EXPECT_THAT(said, HasSubstr("the processor"));
  EXPECT_FALSE(facts.complete);
}

TEST(PastedText, TextOfAnotherKindIsRefusedWithAHint) {
  for (const std::string_view text :
       {std::string_view(), std::string_view("Hello, world\n"),
        std::string_view("\0\x01\x02\xff", 4), std::string_view("{\"schema\": 1}"),
        std::string_view("NAME=\"Debian\"\nID=debian\n")}) {
    const auto snapshot = snapshot_of_text(text, "post.txt");
    ASSERT_FALSE(snapshot.has_value()) << text;
    EXPECT_EQ(
        to_string(snapshot.error()),
        "cannot read the facts of a machine: post.txt: has no line that lspci, sysfs, iomem or "
        "the kernel's log could have printed\n  paste what 'sudo lspci -vvv' and 'sudo dmesg' "
        "print, or send a snapshot made with 'sudo evener snapshot'");
  }
}

TEST(PastedText, Utf16IsNamed) {
  const auto snapshot = snapshot_of_text(std::string_view("\xff\xfe\x30\x00", 4), "post.txt");
  ASSERT_FALSE(snapshot.has_value());
  EXPECT_EQ(
      to_string(snapshot.error()),
      "cannot read the facts of a machine: post.txt: is UTF-16, and only UTF-8 is read\n  save "
      "it again as UTF-8");
}

TEST(PastedText, ATextThatWasCutAnywhereIsRead) {
  for (size_t size = 0; size < kPost.size(); ++size) {
    const auto snapshot = snapshot_of_text(kPost.substr(0, size), "cut");
    if (snapshot) (void)facts_of(*snapshot);
  }
}

TEST(PastedText, BinaryJunkBetweenTheLinesIsPassedOver) {
  const std::string text =
      "\xff\xfe\x80junk\n" + std::string("\0\0\0\n", 4) +
      "03:00.0 VGA compatible controller: NVIDIA Corporation \xff\xfe[A]\n\x1b[0m\n";
  const HostFacts facts = facts_of_pasted(std::string("a\n") + text);
  ASSERT_EQ(facts.gpus.size(), 1U);
  EXPECT_EQ(function_at(facts, "0000:03:00.0").description, "NVIDIA Corporation ??[A]");
}

TEST(PastedText, NoCardAtAllAndOneCardAreMachinesToo) {
  const HostFacts none = facts_of_pasted("00:00.0 Host bridge: Intel Corporation X\n");
  EXPECT_TRUE(none.gpus.empty());
  EXPECT_EQ(none.functions.size(), 1U);
  const HostFacts own = facts_of_pasted(
      "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 770\n"
      "01:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family\n"
      "02:00.0 VGA compatible controller: Intel Corporation Battlemage G21 [Arc B580]\n");
  ASSERT_EQ(own.gpus.size(), 1U);  // not the processor's own, not the board controller's
  EXPECT_EQ(own.gpus[0].function, "0000:02:00.0");
}

}  // namespace
}  // namespace evener::host
