// One door, whatever the facts come in.
#include "host/read_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "host/archive_writer.h"

namespace evener::host {
namespace {

using testing::HasSubstr;

constexpr std::string_view kLspci =
    "0000:00:02.0 PCI bridge [0604]: Intel Corporation Xeon E7 v4 [8086:6f04] (rev 01)\n"
    "\tBus: primary=00, secondary=03, subordinate=0a, sec-latency=0\n"
    "0000:03:00.0 VGA compatible controller [0300]: AMD/ATI Navi 31 [1002:744c] (rev c8)\n";

class ReadFacts : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view bytes) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  std::string folder() const { return folder_.path().string(); }
  static std::string refusal(const std::string& path) {
    const auto facts = read_facts(path);
    return facts ? "accepted" : to_string(facts.error());
  }
  static size_t num_gpus(const std::string& path) {
    const auto facts = read_facts(path);
    if (!facts) ADD_FAILURE() << to_string(facts.error());
    return facts ? facts->gpus.size() : 0;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ReadFacts, KnowsThemByTheirFirstBytesAndNotByTheirName) {
  const std::string packed =
      ArchiveWriter().add("p2p-snapshot/lspci.txt", std::string(kLspci)).finish();
  const std::string plain = ArchiveWriter(false).add("lspci.txt", std::string(kLspci)).finish();
  EXPECT_EQ(num_gpus(write("a.txt", packed)), 1U);
  EXPECT_EQ(num_gpus(write("b.json", plain)), 1U);
  EXPECT_EQ(num_gpus(write("c.tar.gz", kLspci)), 1U);
  EXPECT_EQ(num_gpus(write("d", " \r\n{\"schema\":1,\"gpus\":[{\"name\":\"A\"}]}")), 1U);
  write("capture/p2p-snapshot/lspci.txt", kLspci);
  EXPECT_EQ(num_gpus(folder() + "/capture"), 1U);
}

TEST_F(ReadFacts, TakesBytesAsWell) {
  const auto facts = facts_of_bytes(kLspci, "standard input");
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->gpus.size(), 1U);
}

TEST_F(ReadFacts, ASingleTableIsKnownByItsName) {
  const std::string path = write("sysfs.tsv",
                                 "0000:03:00.0/vendor\t0x1002\n0000:03:00.0/device\t0x744c\n"
                                 "0000:03:00.0/class\t0x030000\n");
  EXPECT_EQ(num_gpus(path), 1U);
}

TEST_F(ReadFacts, WhatTheCaptureCouldNotReadIsMissing) {
  const std::string bytes = ArchiveWriter()
                                .add("lspci.txt", std::string(kLspci))
                                .add("unread.tsv", "the log\tdenied\tbe root\n")
                                .finish();
  const auto facts = read_facts(write("s.tar.gz", bytes));
  ASSERT_TRUE(facts.has_value());
  bool found = false;
  for (const Missing& missing : facts->missing)
    found = found || (missing.what == "the log" && missing.remedy == "be root");
  EXPECT_TRUE(found);
}

TEST_F(ReadFacts, SaysWhatIsWrongAndWhatToDo) {
  const std::string empty = write("empty", " \n");
  EXPECT_EQ(refusal(empty),
            "cannot read facts of a machine: " + empty +
                ": is empty\n  give a snapshot, or what lspci -vvv and dmesg print");
  const std::string zip = write("s.zip", "PK\x03\x04 and so on");
  EXPECT_EQ(refusal(zip), "cannot read facts of a machine: " + zip +
                              ": is packed in a way that is not read here\n  unpack it and give "
                              "the folder, or pack it as tar.gz");
  EXPECT_THAT(refusal(folder() + "/nowhere"), HasSubstr("cannot open file: "));
  EXPECT_THAT(refusal(write("junk", std::string("\0\1\2\x7f\xff junk", 10))), HasSubstr("cannot "));
  EXPECT_THAT(refusal(write("bad.json", "{\"schema\":1,")), HasSubstr("bad.json"));
}

TEST_F(ReadFacts, SnapshotsAloneWhereOneIsNeeded) {
  const auto snapshot = read_snapshot(write("f.json", "{\"schema\":1}"));
  ASSERT_FALSE(snapshot.has_value());
  EXPECT_EQ(snapshot.error().code, Code::unsupported);
}

}  // namespace
}  // namespace evener::host
