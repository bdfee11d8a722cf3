// Packed snapshots, good ones and those that somebody made to do harm.
#include "host/snapshot_tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/archive_writer.h"
#include "host/gzip.h"
#include "host/snapshot_files.h"

namespace evener::host {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& bytes) {
  const auto snapshot = read_snapshot_tar(bytes, "evil.tar.gz");
  return snapshot ? "accepted" : snapshot.error().where + ": " + snapshot.error().why;
}

TEST(SnapshotTar, ReadsWhatItWrote) {
  const Snapshot snapshot = {.files = {{"MANIFEST", "format=p2p-snapshot 1\n"},
                                       {"load/sysfs.tsv", "a\tb\n"},
                                       {"tools/nvidia-topo-m.txt", "GPU0\n"},
                                       {"what-we-do-not-know.txt", "kept\n"}},
                             .origin = "test"};
  const auto bytes = snapshot_tar(snapshot);
  ASSERT_TRUE(bytes.has_value());
  const auto again = read_snapshot_tar(*bytes, "again");
  ASSERT_TRUE(again.has_value()) << to_string(again.error());
  EXPECT_EQ(again->files, snapshot.files);
  EXPECT_EQ(again->origin, "again");
  EXPECT_EQ(*snapshot_tar(snapshot), *bytes);
}

TEST(SnapshotTar, ReadsAPlainTarWithAndWithoutAFolder) {
  for (const char* folder : {"", "./", "alices-capture/", "./x/"}) {
    const std::string bytes = ArchiveWriter(false)
                                  .add_kind("./", AE_IFDIR)
                                  .add(folder + std::string("lspci.txt"), "00:00.0\r\n")
                                  .add(folder + std::string("tools/._x.txt"), "junk")
                                  .finish();
    const auto snapshot = read_snapshot_tar(bytes, "plain.tar");
    ASSERT_TRUE(snapshot.has_value()) << to_string(snapshot.error());
    ASSERT_EQ(snapshot->files.size(), 1U) << folder;
    EXPECT_EQ(snapshot->files.at("lspci.txt"), "00:00.0\n");
  }
}

TEST(SnapshotTar, RefusesPathsThatLeadOutByName) {
  EXPECT_EQ(refusal(ArchiveWriter().add("../../etc/cron.d/x", "x").finish()),
            "evil.tar.gz, member '../../etc/cron.d/x': leads out of its folder");
  EXPECT_EQ(refusal(ArchiveWriter().add("s/tools/../../../x", "x").finish()),
            "evil.tar.gz, member 's/tools/../../../x': leads out of its folder");
  EXPECT_EQ(refusal(ArchiveWriter().add("/etc/passwd", "x").finish()),
            "evil.tar.gz, member '/etc/passwd': is an absolute path");
  EXPECT_EQ(refusal(ArchiveWriter().add("a\nb", "x").finish()),
            "evil.tar.gz, member 'a\\nb': has control characters in its name");
  EXPECT_THAT(refusal(ArchiveWriter().add(std::string(500, 'a'), "x").finish()),
              HasSubstr("has too long a name"));
}

TEST(SnapshotTar, RefusesWhatIsNoPlainFileByName) {
  const auto refused = [](unsigned type) {
    return refusal(ArchiveWriter().add_kind("s/lspci.txt", type).finish());
  };
  const std::string where = "evil.tar.gz, member 's/lspci.txt': is ";
  const std::string rule = "; a snapshot holds plain files only";
  EXPECT_EQ(refused(AE_IFLNK), where + "a symbolic link" + rule);
  EXPECT_EQ(refused(AE_IFIFO), where + "a pipe" + rule);
  EXPECT_EQ(refused(AE_IFCHR), where + "a device" + rule);
  EXPECT_EQ(refused(AE_IFBLK), where + "a device" + rule);
  EXPECT_EQ(refusal(ArchiveWriter()
                        .add("s/dmesg.txt", "x")
                        .add_hard_link("s/lspci.txt", "s/dmesg.txt")
                        .finish()),
            where + "a hard link" + rule);
}

TEST(SnapshotTar, RefusesAFileThatIsInItTwice) {
  EXPECT_EQ(refusal(ArchiveWriter().add("dmesg.txt", "a").add("./dmesg.txt", "b").finish()),
            "evil.tar.gz, member 'dmesg.txt': is in it twice: which is true?");
}

TEST(SnapshotTar, RefusesTooManyMembers) {
  ArchiveWriter files;
  for (size_t i = 0; i <= kSnapshotFilesMax; ++i) files.add("tools/" + std::to_string(i), "x");
  EXPECT_THAT(refusal(files.finish()), HasSubstr("there are more than 512"));
  ArchiveWriter folders;
  for (size_t i = 0; i <= 2 * kSnapshotFilesMax; ++i)
    folders.add_kind("d" + std::to_string(i) + "/", AE_IFDIR);
  EXPECT_EQ(refusal(folders.finish()), "evil.tar.gz: has too many members");
}

TEST(SnapshotTar, RefusesABomb) {
  const std::string zeros(kSnapshotFileBytesMax + 1, '0');
  const std::string bytes = ArchiveWriter().add("s/dmesg.txt", zeros).finish();
  EXPECT_LT(bytes.size(), 1U << 20);
  EXPECT_EQ(refusal(bytes), "evil.tar.gz, member 's/dmesg.txt': is larger than 64 MiB");
}

TEST(SnapshotTar, RefusesManyMembersThatAreLargeTogether) {
  const std::string part(kSnapshotBytesMax / 4, '0');
  ArchiveWriter writer;
  for (int i = 0; i < 5; ++i) writer.add("tools/" + std::to_string(i), part);
  EXPECT_THAT(refusal(writer.finish()), HasSubstr("all together are larger than 128 MiB"));
}

TEST(SnapshotTar, RefusesAnArchiveThatIsPackedMoreThanOnce) {
  const std::string twice = gzipped(ArchiveWriter().add("lspci.txt", "x").finish());
  EXPECT_EQ(refusal(twice), "evil.tar.gz: is packed more than once");
}

TEST(SnapshotTar, DoesNotBelieveASizeThatIsNotThere) {
  ArchiveWriter writer(false);
  writer.add_size_only("lspci.txt", 1000);
  EXPECT_THAT(refusal(writer.break_off()), HasSubstr("lspci.txt"));
  ArchiveWriter huge(false);
  huge.add_size_only("lspci.txt", la_int64_t{1} << 60);
  EXPECT_EQ(refusal(huge.break_off()), "evil.tar.gz, member 'lspci.txt': is larger than 64 MiB");
}

TEST(SnapshotTar, RefusesEveryPieceOfAnArchiveOrReadsLess) {
  const std::string bytes =
      ArchiveWriter().add("s/lspci.txt", "00:00.0 x\n").add("s/dmesg.txt", "pci\n").finish();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto snapshot = read_snapshot_tar(bytes.substr(0, size), "cut");
    if (snapshot) {
      EXPECT_LE(snapshot->files.size(), 2U);
    } else {
      EXPECT_FALSE(snapshot.error().why.empty());
    }
  }
}

TEST(SnapshotTar, RefusesAnArchiveOfSomethingElse) {
  EXPECT_EQ(refusal(ArchiveWriter().add("holiday/1.jpg", "x").finish()),
            "evil.tar.gz: holds none of a snapshot's files (lspci.txt, sysfs.tsv, dmesg.txt, ...)");
  EXPECT_NE(refusal("\x1f\x8b nonsense"), "accepted");
  EXPECT_NE(refusal(""), "accepted");
}

TEST(Gunzip, UnpacksUpToALimit) {
  EXPECT_EQ(gunzip(gzipped("CONFIG_PCI=y\n"), 100), "CONFIG_PCI=y\n");
  EXPECT_EQ(gunzip(gzipped(std::string(5000, 'x')), 4999), std::nullopt);
  EXPECT_EQ(gunzip(gzipped("CONFIG_PCI=y\n").substr(0, 12), 100), std::nullopt);
}

}  // namespace
}  // namespace evener::host
