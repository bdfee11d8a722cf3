#include "device/cpu/node_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_folder.h"
#include "device/cpu/memory.h"
#include "device/create_device.h"

namespace evener::device::cpu {
namespace {

TEST(NodeMemory, FreeIsWhatNobodyUsesAndFilePages) {
  const TemporaryFolder root;
  EXPECT_FALSE(free_bytes_of_node(root.path(), 1).has_value());
  const auto folder = root.path() / "sys/devices/system/node/node1";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "meminfo") << "Node 1 MemTotal:       1000 kB\n"
                                       "Node 1 MemFree:         100 kB\n"
                                       "nonsense\n"
                                       "Node 1 Active(anon):    300 kB\n"
                                       "Node 1 Active(file):     20 kB\n"
                                       "Node 1 Inactive(file):    3 kB\n";
  EXPECT_EQ(free_bytes_of_node(root.path(), 1), size_t{123} * 1024);
}

TEST(NodeMemory, EveryNodeHasSomeAndNoMoreThanItsLimit) {
  const auto nodes = read_cpu_nodes();
  ASSERT_TRUE(nodes.has_value());
  for (const CpuNode& node : *nodes) {
    EXPECT_GT(node_memory_limit(node), 0u);
    EXPECT_GT(free_node_memory(node), 0u);
  }
}

// The code path of machines with several nodes, on whatever there is here. Containers may forbid
// both calls.
TEST(NodeMemory, PagesComeFromTheNodeThatWasAskedFor) {
  const auto nodes = read_cpu_nodes();
  ASSERT_TRUE(nodes.has_value());
  for (const CpuNode& node : *nodes) {
    if (node.memory_bytes == 0) continue;
    const auto memory = Memory::allocate(size_t{8} << 20, "test", {.numa_node = node.index});
    ASSERT_TRUE(memory.has_value());
    std::memset(memory->data(), 1, memory->size_bytes());  // by a thread of any node
    const auto found = nodes_of({memory->data(), memory->size_bytes()});
    if (!found || found->empty()) GTEST_SKIP() << "the system does not say where memory lies";
    if (!prefer_node({memory->data(), memory->size_bytes()}, node.index)) {
      GTEST_SKIP() << "the system does not let memory be placed";
    }
    EXPECT_EQ(*found, std::vector{node.index});
  }
}

TEST(NodeMemory, WeightsAndCachesOfADeviceLieOnItsNode) {
  const auto nodes = read_cpu_nodes();
  ASSERT_TRUE(nodes.has_value());
  if (nodes->size() == 1) GTEST_SKIP() << "there is one node: nowhere else to lie";
  for (const CpuNode& node : *nodes) {
    if (node.cpus.empty() || node.memory_bytes == 0) continue;
    const auto device = create_device("cpu:" + std::to_string(node.index), 0);
    ASSERT_TRUE(device.has_value()) << to_string(device.error());
    const auto buffer = (*device)->allocate(size_t{8} << 20);
    ASSERT_TRUE(buffer.has_value());
    const Tensor tensor{buffer->get(), 0, 1, size_t{2} << 20, size_t{2} << 20};
    float* const data = (*device)->host_data(tensor);
    std::memset(data, 1, size_t{8} << 20);
    const auto found = nodes_of(std::as_bytes(std::span(data, tensor.cols)));
    if (!found || found->empty()) GTEST_SKIP() << "the system does not say where memory lies";
    EXPECT_EQ(*found, std::vector{node.index});
  }
}

}  // namespace
}  // namespace evener::device::cpu
