#include "device/cpu/cpu_device.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <limits>
#include <thread>
#include <vector>

#include "device/cpu/cpu_node.h"
#include "device/cpu/cpu_routing.h"

namespace evener::device::cpu {
namespace {

TEST(CpuDevice, SaysWhatItIs) {
  const auto device = create_cpu_device({.numa_node = 0, .num_threads = 2, .isa = "avx2"});
  ASSERT_TRUE(device.has_value()) << to_string(device.error());
  EXPECT_EQ((*device)->info().name, "cpu:0");
  EXPECT_NE((*device)->info().description.find("2 threads, avx2"), std::string::npos);
  EXPECT_GT((*device)->info().memory_bytes, 0u);
}

TEST(CpuDevice, ANodeThatDoesNotExistIsAnErrorThatNamesThoseThatDo) {
  const auto device = create_cpu_device({.numa_node = 9999, .num_threads = 0, .isa = "avx2"});
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().code, Code::invalid_argument);
  EXPECT_EQ(device.error().why, "there is no NUMA node 9999");
  EXPECT_NE(device.error().remedy.find("cpu:0"), std::string::npos);
}

TEST(CpuDevice, AnUnknownInstructionSetOrTooManyThreadsAreErrors) {
  const auto isa = create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = "sse9"});
  ASSERT_FALSE(isa.has_value());
  EXPECT_EQ(isa.error().code, Code::invalid_argument);
  const auto threads = create_cpu_device({.numa_node = 0, .num_threads = 1'000'000, .isa = "avx2"});
  ASSERT_FALSE(threads.has_value());
  EXPECT_EQ(threads.error().code, Code::invalid_argument);
}

TEST(CpuDevice, CachesThatDoNotFitOrCannotBeComputedWithAreErrors) {
  const auto device =
      std::move(create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = {}})).value();
  KvCacheShape kv = {.num_layers = 1,
                     .num_pages = 1,
                     .page_size = 16,
                     .num_kv_heads = 1,
                     .head_dim = 16,
                     .type = KvType::q8_0};
  const auto narrow = device->create_kv_cache(kv);
  ASSERT_FALSE(narrow.has_value());
  EXPECT_EQ(to_string(narrow.error()),
            "cannot keep keys and values: as q8_0: its blocks are 32 channels wide, the model's "
            "heads have 16\n  choose --kv f16 or --kv fp8");
  kv.type = KvType::f16;
  kv.num_pages = std::numeric_limits<size_t>::max() / 4;
  EXPECT_EQ(device->create_kv_cache(kv).error().code, Code::out_of_memory);
  kv.num_pages = size_t{1} << 45;
  EXPECT_EQ(device->create_kv_cache(kv).error().code, Code::out_of_memory);

  StateCacheShape state = {.num_layers = 1,
                           .num_slots = 1,
                           .conv_taps = 17,
                           .conv_channels = 48,
                           .num_value_heads = 1,
                           .head_dim = 16};
  EXPECT_EQ(device->create_state_cache(state).error().code, Code::unsupported);
  state.conv_taps = 4;
  state.num_slots = std::numeric_limits<size_t>::max() / 1000;
  EXPECT_EQ(device->create_state_cache(state).error().code, Code::out_of_memory);
  EXPECT_EQ(device->allocate(size_t{1} << 60).error().code, Code::out_of_memory);
}

// What is held against the machine's memory before anything is taken.
TEST(RoutingShape, CountsAtLeastWhatTheCpuTakes) {
  for (const RoutingShape& shape :
       {RoutingShape{2, 1, 6, 2, 64, 32}, RoutingShape{2, 512, 512, 10, 2048, 512},
        RoutingShape{2, 1, 128, 8, 2048, 768}}) {
    const auto room = ExpertRoom::create(shape, "test").value();
    size_t taken = 0;
    for (const Memory* const memory :
         {&room.rows, &room.halves, &room.rows_q8_0, &room.rows_q8_k, &room.halves_rounded}) {
      taken += memory->size_bytes();
    }
    EXPECT_GE(shape.bytes(), taken);
    EXPECT_LE(shape.bytes(), 2 * taken);
  }
}

TEST(CpuNode, HasACpuForEachCoreAndNoneTwice) {
  const auto node = read_cpu_node(0);
  ASSERT_TRUE(node.has_value());
  EXPECT_FALSE(node->cpus.empty());
  for (size_t i = 1; i < node->cpus.size(); ++i) EXPECT_LT(node->cpus[i - 1], node->cpus[i]);
}

// A rank's thread that is bound to one core may still open devices of all the others.
TEST(CpuNode, HasTheCoresOfTheProcessAndNotOfTheCallingThread) {
  const auto before = read_cpu_node(0);
  ASSERT_TRUE(before.has_value());
  std::vector<int> seen;
  std::thread([&] {
    const auto device = create_cpu_device({.cores = {0}});
    ASSERT_TRUE(device.has_value()) << to_string(device.error());
    EXPECT_TRUE((*device)->bind_thread().has_value());
    EXPECT_EQ(sched_getcpu(), before->cpus.front());
    seen = read_cpu_node(0)->cpus;
  }).join();
  EXPECT_EQ(seen, before->cpus);
}

}  // namespace
}  // namespace evener::device::cpu
