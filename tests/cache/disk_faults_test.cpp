// Goal: whatever happens to the folder of the disk tier, nothing is lost but the cache, and what is
// read is what was written.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>

#include "cache/tier_rig.h"

namespace evener::cache {
namespace {

constexpr size_t kSize = 300;
constexpr size_t kManyBytes = size_t{1} << 20;

// Files may grow to `bytes` while it lives; more is a failed write, not a signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    if (std::signal(SIGXFSZ, handler_) == SIG_ERR) ADD_FAILURE();
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

// The exit status of `body` in a process of its own.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// One entry, number 1, of kSize bytes, as a file.
std::filesystem::path only_file(const ScratchFolder& folder) {
  {
    put(*open_disk(folder.path()), 1, kSize);
  }
  const auto names = folder.names(".evkv");
  EXPECT_EQ(names.size(), 1U);
  return folder.path() / names.front();
}

TEST(DiskFaults, AnEntryCutAtAnyLengthIsNeverRead) {
  const ScratchFolder folder;
  const auto path = only_file(folder);
  const Bytes whole = read_file(path);
  ASSERT_EQ(whole.size(), kSize + kEntryHeaderBytes);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file(path, std::span(whole).first(size));
    const auto disk = open_disk(folder.path());
    ASSERT_FALSE(disk->contains(key_of(1))) << size;
    // Fewer bytes than show that it is ours stay; the rest is removed.
    ASSERT_EQ(std::filesystem::exists(path), size < 8) << size;
  }
  write_file(path, whole);
  EXPECT_TRUE(has(*open_disk(folder.path()), 1, kSize));
}

// While the tier is open, so that only reading can notice.
TEST(DiskFaults, AnEntryWithAnyByteChangedIsNeverRead) {
  const ScratchFolder folder;
  const auto path = only_file(folder);
  const Bytes whole = read_file(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto disk = open_disk(folder.path());
    ASSERT_TRUE(disk->contains(key_of(1))) << i;
    Bytes damaged = whole;
    damaged[i] ^= std::byte{0x10};
    write_file(path, damaged);
    ASSERT_FALSE(disk->get(key_of(1), kSize)) << i;
    ASSERT_FALSE(disk->contains(key_of(1))) << i;
    ASSERT_EQ(disk->stats().num_failed_reads, 1U);
    disk->finish();
    write_file(path, whole);
  }
}

TEST(DiskFaults, AFileThatGrewOrShrankWhileOpenIsNeverRead) {
  const ScratchFolder folder;
  const auto path = only_file(folder);
  const Bytes whole = read_file(path);
  for (const size_t size :
       {size_t{0}, size_t{71}, size_t{72}, whole.size() - 1, whole.size() + 9}) {
    const auto disk = open_disk(folder.path());
    ASSERT_TRUE(disk->contains(key_of(1)));
    Bytes other = whole;
    other.resize(size);
    write_file(path, other);
    EXPECT_FALSE(disk->get(key_of(1), kSize)) << size;
    disk->finish();
    write_file(path, whole);
  }
}

TEST(DiskFaults, AnEntryUnderAnothersNameIsNeverRead) {
  const ScratchFolder folder;
  {
    const auto disk = open_disk(folder.path());
    put(*disk, 1, kSize);
    put(*disk, 2, kSize);
  }
  const ModelId model = model_id("model");
  const auto path = [&](uint64_t number) {
    return folder.path() / entry_file_name(entry_id(model, key_of(number)));
  };
  {
    const auto disk = open_disk(folder.path());
    std::filesystem::copy_file(path(1), path(2), std::filesystem::copy_options::overwrite_existing);
    EXPECT_FALSE(disk->get(key_of(2), kSize));
    EXPECT_TRUE(has(*disk, 1, kSize));
  }
  std::filesystem::copy_file(path(1), path(2));
  const auto disk = open_disk(folder.path());
  EXPECT_EQ(disk->stats().num_entries, 1U);
  EXPECT_FALSE(disk->contains(key_of(2)));
  EXPECT_TRUE(has(*disk, 1, kSize));
}

TEST(DiskFaults, ARestartRemovesItsOwnLeftoversAndNothingElse) {
  const ScratchFolder folder;
  const auto path = only_file(folder);
  const EntryId other = {.high = 1, .low = 2};
  write_file(folder.path() / unfinished_file_name(other), content(9, 100));
  const std::vector<std::string> strangers = {entry_file_name(other), "notes.txt", "x.evkv",
                                              "y.evkv.part",
                                              entry_file_name({.high = 5, .low = 5}) + ".bak"};
  for (const std::string& name : strangers) write_file(folder.path() / name, content(8, 100));
  std::filesystem::create_directory(folder.path() / entry_file_name({.high = 7, .low = 7}));
  ASSERT_EQ(mkfifo((folder.path() / entry_file_name({.high = 8, .low = 8})).c_str(), 0600), 0);
  std::filesystem::create_symlink(path, folder.path() / entry_file_name({.high = 9, .low = 9}));

  const auto disk = open_disk(folder.path());
  EXPECT_EQ(disk->stats().num_entries, 1U);
  EXPECT_EQ(disk->stats().num_foreign, 0U);
  EXPECT_TRUE(has(*disk, 1, kSize));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / unfinished_file_name(other)));
  for (const std::string& name : strangers) {
    EXPECT_EQ(read_file(folder.path() / name), content(8, 100)) << name;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / entry_file_name({.high = 9, .low = 9})));
}

// A later version's files are not ours to judge.
TEST(DiskFaults, AnEntryOfAnotherVersionIsKeptAsForeign) {
  const ScratchFolder folder;
  const auto path = only_file(folder);
  Bytes bytes = read_file(path);
  bytes[8] = std::byte{2};
  write_file(path, bytes);
  const auto disk = open_disk(folder.path());
  EXPECT_EQ(disk->stats().num_entries, 0U);
  EXPECT_EQ(disk->stats().num_foreign, 1U);
  EXPECT_EQ(read_file(path), bytes);
}

TEST(DiskFaults, AFullDiskEndsWritingButNotReading) {
  const ScratchFolder folder;
  {
    put(*open_disk(folder.path()), 1, kSize);
  }
  const auto disk = open_disk(folder.path());
  {
    const FileSizeLimit limit(kEntryHeaderBytes + 100);
    put(*disk, 2, kManyBytes);
    put(*disk, 3, kManyBytes);
    disk->finish();
  }
  EXPECT_FALSE(disk->stats().writes);
  EXPECT_FALSE(disk->contains(key_of(2)));
  EXPECT_FALSE(disk->contains(key_of(3)));
  EXPECT_FALSE(disk->wants(key_of(4)));
  put(*disk, 4, kSize);
  EXPECT_FALSE(disk->contains(key_of(4)));
  EXPECT_TRUE(has(*disk, 1, kSize));
  EXPECT_TRUE(folder.names(".part").empty());
}

TEST(DiskFaults, OnARealDiskThatIsFullTheTierInMemoryGoesOn) {
  const ScratchFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "cannot mount a small file system here: " << std::strerror(errno);
  }
  {
    const auto tiers = Tiers::create(
        {.memory_bytes_max = 64 << 20,
         .disk = {.folder = folder.path(), .bytes_max = 1 << 30, .identity = "model"}},
        {});
    for (uint64_t number = 0; number < 20; ++number) put(*tiers, number, 50'000);
    tiers->finish();
    EXPECT_FALSE(tiers->stats().disk.writes);
    EXPECT_GT(tiers->stats().disk.num_entries, 0U);
    EXPECT_TRUE(folder.names(".part").empty());
    for (uint64_t number = 0; number < 20; ++number) EXPECT_TRUE(has(*tiers, number, 50'000));
  }
  const auto again = open_disk(folder.path());
  EXPECT_GT(again->stats().num_entries, 0U);
  for (uint64_t number = 0; number < 20; ++number) {
    EXPECT_EQ(has(*again, number, 50'000), again->contains(key_of(number)));
  }
  EXPECT_EQ(umount2(folder.path().c_str(), MNT_DETACH), 0);
}

TEST(DiskFaults, AFolderThatVanishesEndsTheTierAndNothingElse) {
  for (const bool while_writing : {false, true}) {
    const ScratchFolder folder;
    const auto tiers = Tiers::create(
        {.memory_bytes_max = 2 * (kSize + 256),
         .disk = {.folder = folder.path(), .bytes_max = 1 << 30, .identity = "model"}},
        {});
    for (uint64_t number = 0; number < 5; ++number) put(*tiers, number, kSize);
    tiers->finish();
    std::filesystem::remove_all(folder.path());
    if (while_writing) {
      put(*tiers, 5, kSize);
      tiers->finish();
    } else {
      EXPECT_FALSE(tiers->get(key_of(0), kSize));
    }
    EXPECT_FALSE(tiers->stats().disk.writes);
    EXPECT_EQ(tiers->stats().disk.num_entries, 0U);
    EXPECT_FALSE(tiers->contains(key_of(0)));
    put(*tiers, 6, kSize);
    EXPECT_TRUE(has(*tiers, 6, kSize));
    EXPECT_FALSE(std::filesystem::exists(folder.path()));
  }
}

TEST(DiskFaults, ASingleFileThatVanishesIsAMiss) {
  const ScratchFolder folder;
  const auto path = only_file(folder);
  const auto disk = open_disk(folder.path());
  put(*disk, 2, kSize);
  disk->finish();
  std::filesystem::remove(path);
  EXPECT_FALSE(disk->get(key_of(1), kSize));
  EXPECT_FALSE(disk->contains(key_of(1)));
  EXPECT_TRUE(has(*disk, 2, kSize));
  EXPECT_TRUE(disk->stats().writes);
}

// As nobody, since root may write anywhere.
TEST(DiskFaults, AFolderThatMayNotBeWrittenIsAnErrorAndTiersGoOnWithoutIt) {
  const ScratchFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const int status = in_child([&] {
    if (geteuid() == 0 && seteuid(65534) != 0) return 77;
    const auto disk =
        DiskTier::open({.folder = folder.path(), .bytes_max = 1, .identity = "m"}, {});
    if (disk || disk.error().code != Code::permission_denied) return 1;
    const auto below =
        DiskTier::open({.folder = folder.path() / "a", .bytes_max = 1, .identity = "m"}, {});
    if (below || below.error().code != Code::permission_denied) return 2;
    const auto tiers =
        Tiers::create({.memory_bytes_max = 1 << 20,
                       .disk = {.folder = folder.path(), .bytes_max = 1 << 20, .identity = "m"}},
                      {});
    put(*tiers, 1, kSize);
    return !tiers->stats().has_disk && has(*tiers, 1, kSize) ? 0 : 3;
  });
  if (status == 77) GTEST_SKIP() << "cannot become another user here";
  EXPECT_EQ(status, 0);
}

TEST(DiskFaults, APathThatIsNoFolderIsAnError) {
  const ScratchFolder folder;
  write_file(folder.path() / "file", content(1, 10));
  const auto open = [](const std::filesystem::path& path) {
    const auto disk = DiskTier::open({.folder = path, .bytes_max = 1, .identity = "m"}, {});
    return disk ? Code::internal : disk.error().code;
  };
  EXPECT_EQ(open(folder.path() / "file"), Code::invalid_argument);
  EXPECT_EQ(open(folder.path() / "file" / "below"), Code::invalid_argument);
  EXPECT_EQ(open(folder.path() / "new" / "below"), Code::internal);
  EXPECT_EQ(std::filesystem::status(folder.path() / "new" / "below").permissions(),
            std::filesystem::perms::owner_all);
}

TEST(DiskFaults, TheSecondUserOfAFolderIsToldAndTheFirstGoesOn) {
  const ScratchFolder folder;
  const auto disk = open_disk(folder.path());
  put(*disk, 1, kSize);
  EXPECT_EQ(in_child([&] {
              const auto second = DiskTier::open(
                  {.folder = folder.path(), .bytes_max = 1, .identity = "other"}, {});
              return !second && second.error().why == "another process uses it" ? 0 : 1;
            }),
            0);
  disk->finish();
  EXPECT_TRUE(has(*disk, 1, kSize));
  EXPECT_FALSE(DiskTier::open({.folder = folder.path(), .bytes_max = 1, .identity = "m"}, {}));
}

// Method: children that write without end and are killed, each at another moment; each byte that
// comes through the pipe is an entry that was put.
TEST(DiskFaults, AKilledWriterLeavesWholeEntriesAndAFolderThatOpens) {
  const ScratchFolder folder;
  constexpr size_t kEntryBytes = 200'000;
  size_t num_entries = 0;
  for (unsigned round = 0; round < 12; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto disk = open_disk(folder.path(), 40 * kEntryBytes);
      for (uint64_t number = round * 1000;; ++number) {
        put(*disk, number, kEntryBytes, WhenBusy::wait);
        if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
      }
    }
    close(pipe_ends[1]);
    char byte = 0;
    for (unsigned i = 0; i < 3 + 5 * round; ++i) ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    close(pipe_ends[0]);

    const auto disk = open_disk(folder.path(), 40 * kEntryBytes);
    EXPECT_TRUE(folder.names(".part").empty());
    for (uint64_t number = 0; number < (round + 1) * 1000; ++number) {
      if (disk->contains(key_of(number))) {
        ASSERT_TRUE(has(*disk, number, kEntryBytes)) << round << " " << number;
      }
    }
    EXPECT_EQ(disk->stats().num_failed_reads, 0U);
    num_entries = disk->stats().num_entries;
  }
  EXPECT_GT(num_entries, 5U);
}

}  // namespace
}  // namespace evener::cache
