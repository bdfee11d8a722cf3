// What tells one machine from another is gone from a snapshot, and nothing else is.
#include "host/mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/fake_machine.h"

namespace evener::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string masked(const std::string& file, const std::string& line) {
  Snapshot snapshot = {.files = {{file, line + "\n"}}, .origin = "test"};
  mask(snapshot, {"alices-box.example.org", "alices-box"});
  std::string text = snapshot.files[file];
  text.pop_back();
  return text;
}

std::string masked_log(const std::string& line) { return masked("dmesg.txt", line); }

TEST(Mask, TakesOutHardwareAddresses) {
  EXPECT_EQ(masked_log("pci 0000:03:00.0: 00:1b:21:AA:bb:cc, link up"),
            "pci 0000:03:00.0: xx:MASKED6, link up");
  EXPECT_EQ(masked_log("00-1B-21-AA-BB-CC"), "xx:MASKED6");
  EXPECT_EQ(masked_log("MAC00:1b:21:aa:bb:cc"), "MAC00:xx:MASKED5");
  EXPECT_EQ(masked_log("ib0 80:00:02:08:fe:80:00:00:00:00"), "ib0 xx:MASKED10");
  EXPECT_EQ(masked_log("node 0011:2233:4455:6677"), "node xx:MASKED4");
  EXPECT_EQ(masked_log("enx001b21aabbcc: carrier"), "enxMASKED: carrier");
}

TEST(Mask, TakesOutTheSerialNumberThatLspciDecodes) {
  EXPECT_EQ(
      masked("lspci.txt", "\tCapabilities: [148 v1] Device Serial Number 00-11-22-33-44-55-66-77"),
      "\tCapabilities: [148 v1] Device Serial Number xx-MASKED8");
  EXPECT_EQ(masked("lspci.txt", "\t\t[SN] Serial number: 0422618012345"),
            "\t\t[SN] Serial number: MASKED");
  EXPECT_EQ(masked("lspci.txt", "\t\t[V1] Vendor specific: 001b21aabbcc"),
            "\t\t[V1] Vendor specific: MASKED");
}

TEST(Mask, TakesOutWhatStandsBehindItsName) {
  EXPECT_EQ(masked_log("Serial Number AB12"), "Serial Number MASKED");
  EXPECT_EQ(masked_log("\"serial\": \"AB12\""), "\"serial\": \"MASKED");
  EXPECT_EQ(masked_log("Service Tag: 7XK2B42"), "Service Tag: MASKED");
  EXPECT_EQ(masked_log("unique_id 11651590505119499032"), "unique_id MASKED");
  EXPECT_EQ(masked_log("Unique ID: 0xa1b2c3d4e5f60718"), "Unique ID: MASKED");
  EXPECT_EQ(masked_log("serial: serial number 123"), "serial: MASKED");
  EXPECT_EQ(masked_log("[Hardware Error]: SOCKET 0 PPIN 2b4f1c9d8e7a6051"),
            "[Hardware Error]: SOCKET 0 PPIN MASKED");
}

TEST(Mask, TakesOutUuids) {
  EXPECT_EQ(masked_log("GPU-5d3c0d4e-77aa-4bcd-9c7e-0123456789ab"), "GPU-UUID-MASKED");
  EXPECT_EQ(masked_log("machine 5d3c0d4e77aa4bcd9c7e0123456789ab"), "machine UUID-MASKED");
}

TEST(Mask, TakesHostNameAddressesAndHomesOutOfFreeText) {
  EXPECT_EQ(masked_log("alices-box kernel: from 192.168.1.20: up"),
            "HOST kernel: from IP-MASKED: up");
  EXPECT_EQ(masked_log("alices-box.example.org"), "HOST");
  EXPECT_EQ(masked_log("alices-box2 my-alices-box"), "alices-box2 my-alices-box");
  EXPECT_EQ(masked("tools/nvbandwidth.txt", "/home/alice/nvbandwidth /home/USER/x"),
            "/home/USER/nvbandwidth /home/USER/x");
}

TEST(Mask, LeavesWhatTheDiagnosisNeeds) {
  for (const char* line : {
           "pci 0000:00:02.0: bridge window [mem 0x38000000000-0x3bfffffffff 64bit pref]",
           "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14",
           "amdgpu 0000:03:00.0: vbios version 1.2.3.4",
           "DMI: LENOVO 30B4/1036, BIOS 1.2.3.4 01/02/2020",
           "5.15.146.1-microsoft-standard-WSL2",
           "[Mon Nov 30 08:15:00 2026] pcieport 0000:00:1f.0: AER: 12:34:56",
           "999.1.2.3 is no address",
           "0000:07:00.0/resource\t0x0000038000000000 0x000003800fffffff 0x000000000014220c",
           "0000:07:00.0/local_cpulist\t0-15,32-47",
           "00:1f.5 Serial bus controller [0c80]: Intel Corporation C620 [8086:a1a4]",
           "01:00.0 Serial Attached SCSI controller [0107]: Broadcom SAS3008 [1000:0097]",
           "Capabilities: [d0] Vendor Specific Information: ID=0002 Rev=4 Len=100",
           "00: 86 80 00 6f 47 05 10 00 02 00 04 06 10 00 81 00",
       })
    EXPECT_EQ(masked_log(line), line);
  EXPECT_EQ(masked("dmi.txt", "bios_version\t10.20.30.40"), "bios_version\t10.20.30.40");
}

TEST(Mask, ANameThatEveryLogContainsIsNoName) {
  Snapshot snapshot = {.files = {{"dmesg.txt", "pci 0000:03:00.0: x9 2024\n"}}, .origin = {}};
  mask(snapshot, {"pci", "x9", "2024", ""});
  EXPECT_EQ(snapshot.files["dmesg.txt"], "pci 0000:03:00.0: x9 2024\n");
}

TEST(Mask, ChangesNothingTheSecondTime) {
  Snapshot snapshot = {
      .files = {{"dmesg.txt", "alices-box 10.0.0.7 00:1b:21:aa:bb:cc serial number 7\n"}},
      .origin = {}};
  EXPECT_EQ(mask(snapshot, {"alices-box"}).size(), 4U);
  const auto once = snapshot.files;
  EXPECT_TRUE(mask(snapshot, {"alices-box"}).empty());
  EXPECT_EQ(snapshot.files, once);
}

std::string masked_config(const ConfigSpace& config) {
  Snapshot snapshot = {
      .files = {{"lspci.txt", "0000:07:00.0 VGA compatible controller\n" + config.hex() + "\n"}},
      .origin = {}};
  mask(snapshot, {});
  return snapshot.files["lspci.txt"];
}

TEST(Mask, ZeroesTheSerialNumberInConfigSpaceAndNothingElse) {
  ConfigSpace config;
  config.set(0x40, 0xdeadbeef, 4).device_serial(0x148, 0x0011223344556677);
  ConfigSpace expected = config;
  expected.set(0x14c, 0, 4).set(0x150, 0, 4);
  EXPECT_NE(config.bytes(), expected.bytes());
  EXPECT_THAT(masked_config(config), HasSubstr(expected.hex()));
}

TEST(Mask, ZeroesWhatAReadOfVitalProductDataLeftBehind) {
  ConfigSpace config(256);
  config.vital_product_data(0x50, 0x41425354);
  EXPECT_THAT(masked_config(config), HasSubstr("50: 03 00 00 00 00 00 00 00 00"));
}

TEST(Mask, FindsTheSerialNumberBehindALinkThatLeadsBack) {
  ConfigSpace config;
  config.set(0x100, 0x0001'0001 | 0x200U << 20, 4);
  config.set(0x200, 0x0001'000b | 0x148U << 20, 4);
  config.set(0x148, 0x0001'0003 | 0x200U << 20, 4);  // and a circle
  config.set(0x14c, 0x12345678, 4);
  EXPECT_THAT(masked_config(config), HasSubstr("\n140: 00 00 00 00 00 00 00 00 03 00 01 20 00 00 "
                                               "00 00\n"));
}

TEST(Mask, ADumpThatIsCutShortIsNoReasonToStop) {
  const std::string text = ConfigSpace().device_serial(0x148, 77).hex();
  for (const size_t size : {size_t{3}, size_t{50}, text.find("\n140:") + 30, text.size() - 1}) {
    Snapshot snapshot = {.files = {{"lspci.txt", text.substr(0, size)}}, .origin = {}};
    mask(snapshot, {});
    EXPECT_EQ(snapshot.files["lspci.txt"].size(), size + 1);
  }
}

std::vector<std::string> found(const std::string& text) {
  const Snapshot snapshot = {.files = {{"dmesg.txt", text}}, .origin = {}};
  std::vector<std::string> kinds;
  for (const Identifier& identifier : find_identifiers(snapshot))
    kinds.push_back(identifier.kind + ": " + identifier.text);
  return kinds;
}

TEST(FindIdentifiers, FindsWhatMaskingMisses) {
  EXPECT_THAT(found("port 001b.21aa.bbcc"), ElementsAre("MAC address: 001b.21aa.bbcc"));
  EXPECT_THAT(found("x00:1b:21:aa:bb:cc:"), ElementsAre("MAC address: 00:1b:21:aa:bb:cc"));
  EXPECT_THAT(found("a:b:c:d:e:f"), ElementsAre("MAC address: a:b:c:d:e:f"));
  EXPECT_THAT(found("x5d3c0d4e-77aa-4bcd-9c7e-0123456789ab\n"),
              ElementsAre("UUID: 5d3c0d4e-77aa-4bcd-9c7e-0123456789ab"));
  EXPECT_THAT(found("the serial is 0422618012345\nok\n"),
              ElementsAre("serial number: 0422618012345"));
  EXPECT_THAT(found("AssetTag found: PF2XK3B9"), ElementsAre("serial number: PF2XK3B9"));
  EXPECT_THAT(found(ConfigSpace().device_serial(0x148, 0xab).hex()),
              ElementsAre("device serial number in config space: ab"));
}

TEST(FindIdentifiers, IsNotAlarmedByMasksAndByWordsOfTheTrade) {
  EXPECT_THAT(found("xx:MASKED6 xx-MASKED8 UUID-MASKED IP-MASKED unique_id MASKED\n"
                    "Serial number: MASKED\n"
                    "00:1f.5 Serial bus controller [0c80]: Intel Corporation C620 [8086:a1a4]\n"
                    "Serial Attached SCSI controller [0107]: Broadcom SAS3008 [1000:0097]\n"
                    "0000:07:00.0/path\tpci0000:00/0000:00:02.0/0000:03:00.0/0000:04:08.0\n"
                    "fed1c000-fed1ffff : pnp 00:09\n"
                    "03:00.0 VGA compatible controller [0300]: Unique Boards [102b:0532]\n"
                    "GPU UUID: \t GPU-UUID-MASKED\n"),
              ElementsAre());
}

TEST(FindIdentifiers, TheErrorNamesFileAndLine) {
  const Snapshot snapshot = {.files = {{"tools/x.txt", "fine\nserial 0422618012345\n"}},
                             .origin = {}};
  const Status status = check_masked(snapshot);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(to_string(status.error()),
            "cannot share snapshot: tools/x.txt, line 2: '0422618012345' looks like a serial "
            "number that tells this machine from others\n  capture with the script of 'evener "
            "snapshot --script', take the line out by hand, and pack the folder with 'evener "
            "snapshot --from FOLDER'");
}

// Method: lines made to be bad for a search that starts again at each place. A square of these
// sizes would take hours.
TEST(Mask, TakesTimeInProportionToTheText) {
  std::string text;
  for (const char* part :
       {"serial number ", "a:", "00-11-", "1.2.3.4 ", "/home/a", "[v] vendor "}) {
    for (int i = 0; i < 100'000; ++i) text += part;
    text += '\n';
  }
  Snapshot snapshot = {.files = {{"dmesg.txt", text}}, .origin = {}};
  mask(snapshot, {"a"});
  find_identifiers(snapshot);
  EXPECT_THAT(snapshot.files["dmesg.txt"], HasSubstr("/home/USER"));
}

}  // namespace
}  // namespace evener::host
