#include "host/snapshot_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "host/snapshot_files.h"

namespace evener::host {
namespace {

namespace fs = std::filesystem;

class SnapshotFolder : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name, std::ios::binary) << text;
  }
  const fs::path& root() const { return folder_.path(); }
  std::string refusal() {
    const auto snapshot = read_snapshot_folder(root());
    return snapshot ? "accepted" : snapshot.error().where + ": " + snapshot.error().why;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SnapshotFolder, ReadsAllFilesAlsoFromWithinOneFolder) {
  for (const std::string folder : {"", "p2p-snapshot/"}) {
    write(folder + "lspci.txt", "00:00.0\r\n");
    write(folder + "tools/nvidia-topo-m.txt", "GPU0\n");
    const auto snapshot = read_snapshot_folder(root());
    ASSERT_TRUE(snapshot.has_value()) << to_string(snapshot.error());
    EXPECT_EQ(snapshot->files.size(), 2U);
    EXPECT_EQ(snapshot->files.at("lspci.txt"), "00:00.0\n");
    EXPECT_EQ(snapshot->files.at("tools/nvidia-topo-m.txt"), "GPU0\n");
    for (const auto& entry : fs::directory_iterator(root())) fs::remove_all(entry.path());
  }
}

TEST_F(SnapshotFolder, FollowsNoLinkAndOpensNoPipe) {
  fs::create_symlink("/etc/passwd", root() / "dmesg.txt");
  EXPECT_EQ(refusal(), (root() / "dmesg.txt").string() +
                           ": is not a plain file; a snapshot holds no links, pipes or devices");
  fs::remove(root() / "dmesg.txt");
  ASSERT_EQ(::mkfifo((root() / "lspci.txt").c_str(), 0600), 0);
  EXPECT_EQ(refusal(), (root() / "lspci.txt").string() +
                           ": is not a plain file; a snapshot holds no links, pipes or devices");
}

TEST_F(SnapshotFolder, RefusesAFolderOfSomethingElse) {
  EXPECT_EQ(refusal(), root().string() +
                           ": holds none of a snapshot's files (lspci.txt, sysfs.tsv, dmesg.txt, "
                           "...)");
  for (size_t i = 0; i <= kSnapshotFilesMax; ++i) write("photo" + std::to_string(i), "x");
  EXPECT_NE(refusal().find("there are more than 512"), std::string::npos);
}

TEST_F(SnapshotFolder, SaysThatThereIsNone) {
  const auto snapshot = read_snapshot_folder(root() / "nowhere");
  ASSERT_FALSE(snapshot.has_value());
  EXPECT_EQ(snapshot.error().code, Code::not_found);
}

}  // namespace
}  // namespace evener::host
