// The report that a person reads, whole, and what becomes of it on narrow and other terminals.
#include "doctor/to_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/fixes.h"
#include "doctor/sample_machine.h"

namespace evener::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string sample_text(const TextStyle& style = {}) {
  return to_text(sample_machine(), sample_report(), style);
}

TEST(DoctorText, IsThePageThatAPersonReads) {
  Report report = sample_report();
  report.fixes.clear();  // their words are those of the table of fixes
  EXPECT_EQ(to_text(sample_machine(), report, {}), R"(Two of three pairs are blocked.

Machine
  board    Dell Precision Tower 7910, BIOS A34
  CPU      2x Intel Xeon E5-2683 v4, 2 sockets
  kernel   7.0.14
  IOMMU    pass-through (identity)

Where the cards are
  0000:00 root bus, node 0, first device 8086:6f00, window above 4 GiB 256 GiB at 0x380000000000
  └─ 0000:00:02.0 root port, slot 2
     └─ R1 Radeon AI PRO R9700, 0000:05:00.0, VRAM 32624 MiB, BAR 0: 32 GiB at 0x380000000000, Gen1 x16 of Gen3 x16 (idle?), amdgpu
  0000:a0 root bus, node 1
  └─ 0000:a0:02.0 root port, window 770 MiB
     └─ 0000:a1:00.0 switch, upstream port, PEX 8796 switch
        ├─ 0000:a2:04.0 switch, downstream port, ACS redirects (requests, completions)
        │  └─ X1 Radeon RX 7900 XTX, 0000:a3:00.0, VRAM 24560 MiB, BAR 0: 256 MiB at 0xc0000000, Gen4 x16, amdgpu
        ├─ 0000:a2:08.0 switch, downstream port
        │  └─ X2 Radeon RX 7900 XTX, 0000:a5:00.0, VRAM 24560 MiB, BAR 0: 256 MiB at 0xd0000000, Gen4 x16, amdgpu
        └─ 0000:a2:0c.0 switch, downstream port
           └─ 0000:a7:00.0 NVMe drive

Peer-to-peer, pair by pair
      R1        X1        X2
  R1  -         blocked   blocked
  X1  blocked   -         allowed
  X2  blocked   allowed   -

  R1-X1, R1-X2: blocked, from one host bridge to another (R58)
    different host bridges
  X1-X2: allowed, through a switch (R50, R80)
    the slowest link on the way carries 31.5 GB/s one way, before any overhead
  allowed: every gate passes and it should work, but nobody has compared the bytes that arrive

Findings
  problem R34: the window inside the switch is too short [X1-X2]
    - window 770 MiB, needed 64 GiB
    - each card pins it for the other
    Look at kernel 7.0 first.
    fixes: F09, F24

  passed R38: the BAR shows all of the memory [R1]

How to use the cards for one model, the best first
  layer split on R1, X1: no pair is fast enough
    - 31.9 + 24.0 GiB hold the model

Power supply, an estimate
  - cards: 1010 W
  together 1500 W

Lines to copy for the kernel
--- a/drivers/pci/p2pdma.c
+	{PCI_VENDOR_ID_INTEL, 0x6f00},

What could not be read
  - BIOS settings: no tool reads them
)");
}

TEST(DoctorText, NumbersTheFixesWithRiskAndProof) {
  const Fix& fix = *find_fix("F09");
  const std::string text = sample_text();
  EXPECT_THAT(text,
              HasSubstr(fmt::format("\n  1. F09 {} (risk: {}", fix.action, to_string(fix.risk))));
  EXPECT_THAT(text, HasSubstr(fmt::format("     then check: {}\n", fix.verify)));
  EXPECT_THAT(text, HasSubstr("\n  2. F24 "));
}

TEST(DoctorText, DrawsWithPlainCharactersWhereTheTerminalHasNoOthers) {
  const std::string text = sample_text({.ascii = true});
  EXPECT_THAT(text, HasSubstr("        |- 0000:a2:08.0 switch"));
  EXPECT_THAT(text, HasSubstr("        |  `- X2 Radeon"));
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(DoctorText, KeepsTheTreesLinesWhereARowIsBroken) {
  EXPECT_THAT(sample_text({.width = 60}),
              HasSubstr("        │  └─ X1 Radeon RX 7900 XTX, 0000:a3:00.0, VRAM\n"
                        "        │        24560 MiB, BAR 0: 256 MiB at 0xc0000000,\n"
                        "        │        Gen4 x16, amdgpu\n"));
}

TEST(DoctorText, HasColoursOnlyIfAsked) {
  EXPECT_THAT(sample_text(), Not(HasSubstr("\x1b")));
  const std::string text = sample_text({.colour = true});
  EXPECT_THAT(text, HasSubstr("\x1b[1;31mBAR 0: 256 MiB at 0xc0000000\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[32mBAR 0: 32 GiB at 0x380000000000\x1b[0m"));
}

TEST(DoctorText, HasLettersInTheMatrixWhereWordsDoNotFit) {
  const std::string text = sample_text({.width = 30});
  EXPECT_THAT(text, HasSubstr("\n      R1  X1  X2\n  R1  -   b   b\n"));
  EXPECT_THAT(text, HasSubstr("  a = allowed, b = blocked\n"));
}

TEST(DoctorText, SaysWhomAFindingIsAboutInFewWords) {
  Report report = sample_report();
  report.findings[0].pairs = {"X1>X2", "R1>X1", "X2>X1"};
  EXPECT_THAT(to_text(sample_machine(), report, {}), HasSubstr("too short [X1-X2, R1>X1]\n"));
  report.findings[0].pairs = {"X1>X2", "R1-X1", "X2>X1", "R1-X2"};
  EXPECT_THAT(to_text(sample_machine(), report, {}), HasSubstr("too short [all pairs]\n"));
}

TEST(DoctorText, OfAMachineOfWhichNothingIsKnownIsShort) {
  Report report;
  report.summary = "No graphics card was found.";
  EXPECT_EQ(to_text(host::HostFacts(), report, {}),
            "No graphics card was found.\n\nMachine\n  IOMMU    unknown\n");
}

// Two hundred cards in one group: the names are cut, the matrix is left out.
TEST(DoctorText, StaysReadableWithManyPairs) {
  Report report;
  host::HostFacts facts;
  for (int i = 0; i < 200; ++i) {
    host::Gpu gpu;
    gpu.name = fmt::format("G{}", i);
    facts.gpus.push_back(gpu);
    PairReport pair;
    pair.a = "G0";
    pair.b = gpu.name;
    report.pairs.push_back(pair);
  }
  const std::string text = to_text(facts, report, {});
  EXPECT_THAT(text, HasSubstr("G0-G11 and 188 more: unknown"));
  EXPECT_THAT(text, Not(HasSubstr("\n  G0  -")));
}

TEST(DoctorText, NamesOfDevicesCannotMoveTheCursor) {
  host::HostFacts facts = sample_machine();
  Report report = sample_report();
  const std::string evil = "\x1b[2J\n\xff";
  facts.machine.board = facts.gpus[0].model = facts.gpus[0].name = evil;
  facts.functions[0].slot = facts.functions[1].driver.emplace(evil);
  report.findings[0].title = report.findings[0].evidence[0] = report.pairs[0].because = evil;
  report.kernel_help[0] = report.summary = facts.missing[0].what = evil;
  const std::string text = to_text(facts, report, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
  EXPECT_THAT(text, HasSubstr("\\x1b[2J\\n\\xff"));
}

TEST(DoctorText, SaysWhatHasChanged) {
  EXPECT_EQ(to_text(Changes{}, {}), "Nothing that matters here has changed.\n");
  EXPECT_EQ(
      to_text(Changes{.facts = {"kernel: 7.0 -> 7.4"}, .verdicts = {"A-B: blocked -> works"}}, {}),
      "\nWhat is different on the machine\n  - kernel: 7.0 -> 7.4\n"
      "\nWhat that changes\n  - A-B: blocked -> works\n");
}

}  // namespace
}  // namespace evener::doctor
