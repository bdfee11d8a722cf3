#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/temporary_folder.h"
#include "device/cpu/memory.h"
#include "device/cpu/memory_limit.h"

namespace evener::device::cpu {
namespace {

// A tree of files below a fresh folder.
class FileTree {
 public:
  void add(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }
  const std::filesystem::path& root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

TEST(CgroupMemory, TheTightestGroupAboveTheProcessCountsAndFilePagesDoNot) {
  FileTree tree;
  tree.add("proc/self/cgroup", "0::/user/job\n");
  tree.add("sys/fs/cgroup/user/job/memory.max", "max\n");
  tree.add("sys/fs/cgroup/user/memory.max", "1000\n");
  tree.add("sys/fs/cgroup/user/memory.current", "700\n");
  tree.add("sys/fs/cgroup/user/memory.stat", "anon 100\nfile 600\nslab 5\n");
  tree.add("sys/fs/cgroup/memory.max", "5000\n");
  tree.add("sys/fs/cgroup/memory.current", "1000\n");
  const CgroupMemory memory = read_cgroup_memory(tree.root());
  EXPECT_EQ(memory.limit_bytes, 1000u);
  EXPECT_EQ(memory.free_bytes, 900u);
}

TEST(CgroupMemory, VersionOneIsReadFromItsMemoryController) {
  FileTree tree;
  tree.add("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/docker/abc\n0::/\n");
  tree.add("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4096\n");
  tree.add("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "5000\n");
  tree.add("sys/fs/cgroup/memory/other/memory.limit_in_bytes", "1\n");
  const CgroupMemory memory = read_cgroup_memory(tree.root());
  EXPECT_EQ(memory.limit_bytes, 4096u);
  EXPECT_EQ(memory.free_bytes, 0u);
}

TEST(CgroupMemory, WithoutGroupsOrWithNonsenseThereIsNoLimit) {
  FileTree tree;
  EXPECT_EQ(read_cgroup_memory(tree.root()).limit_bytes, kNoLimit);
  tree.add("proc/self/cgroup", "nonsense\n0:\n:::\n0::/../../..\n");
  tree.add("sys/fs/cgroup/memory.max", "12x\n");
  EXPECT_EQ(read_cgroup_memory(tree.root()).limit_bytes, kNoLimit);
}

TEST(Memory, IsZeroedAndAlignedWhateverItsSize) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{5} << 20}) {
    const auto memory = Memory::allocate(size, "test");
    ASSERT_TRUE(memory.has_value());
    EXPECT_EQ(memory->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 64, 0u);
    for (size_t i = 0; i < size; i += 997) ASSERT_EQ(memory->data()[i], std::byte{0});
  }
}

TEST(Memory, MoreThanTheMachineHasIsAnErrorAndNotACrash) {
  for (const size_t size : {kNoLimit, kNoLimit / 2, size_t{1} << 50}) {
    const auto memory = Memory::allocate(size, "cpu:0, KV cache");
    ASSERT_FALSE(memory.has_value());
    EXPECT_EQ(memory.error().code, Code::out_of_memory);
    EXPECT_EQ(memory.error().where, "cpu:0, KV cache");
  }
}

TEST(MemoryLimit, IsMoreThanNothing) {
  EXPECT_GT(memory_limit_bytes(), size_t{64} << 20);
  EXPECT_GT(available_memory_bytes(), 0u);
}

}  // namespace
}  // namespace evener::device::cpu
