// What devices of the same memory have in common, and what of a card's is left to others.
#include "device/device_memory.h"

#include <gtest/gtest.h>

#include "device/cpu/cpu_node.h"
#include "device/create_device.h"
#include "device/vulkan/card_memory.h"
#include "device/vulkan/instance.h"
#include "device/vulkan/named_adapter.h"

namespace evener::device {
namespace {

using vulkan::Adapter;
using vulkan::AdapterKind;

constexpr size_t kMebi = size_t{1} << 20;

Adapter adapter_of_kind(AdapterKind kind) {
  Adapter adapter;
  adapter.kind = kind;
  return adapter;
}

TEST(CardMemory, AReserveIsLeftToOthers) {
  const Adapter card = adapter_of_kind(AdapterKind::discrete);
  EXPECT_EQ(usable_bytes(card, {.free_bytes = 8000 * kMebi}), 7744 * kMebi);
  EXPECT_EQ(usable_bytes(card, {.free_bytes = 8000 * kMebi, .facts = {.drives_display = true}}),
            7232 * kMebi);
  EXPECT_EQ(usable_bytes(card, {.free_bytes = 100 * kMebi}), 0U);
}

TEST(CardMemory, WhatOthersHaveTakenIsNotFreeWhateverTheDriverSays) {
  const vulkan::MemoryNow now{
      .free_bytes = 8000 * kMebi,
      .facts = {.vram_total_bytes = 8192 * kMebi, .vram_used_bytes = 5000 * kMebi}};
  EXPECT_EQ(usable_bytes(adapter_of_kind(AdapterKind::discrete), now), (3192 - 256) * kMebi);
  // The firmware's part of a processor's graphics is the least of what they may use.
  EXPECT_EQ(usable_bytes(adapter_of_kind(AdapterKind::integrated), now), (8000 - 256) * kMebi);
  vulkan::MemoryNow strange = now;
  strange.facts.vram_used_bytes = 9000 * kMebi;
  EXPECT_EQ(usable_bytes(adapter_of_kind(AdapterKind::discrete), strange), 0U);
}

TEST(CardMemory, OfSoftwareIsTheHosts) {
  const Adapter software = adapter_of_kind(AdapterKind::software);
  EXPECT_EQ(usable_bytes(software, {.free_bytes = 900, .host_free_bytes = 500}), 500U);
  EXPECT_EQ(usable_bytes(software, {.free_bytes = 400, .host_free_bytes = 500}), 400U);
}

TEST(UsableAdapter, LacksNothing) {
  Adapter adapter;
  adapter.index = 1;
  adapter.name = "Old Card";
  adapter.driver = "olddrv, Mesa 18";
  EXPECT_TRUE(check_usable(adapter).has_value());
  adapter.missing = {"Vulkan 1.3 (its driver has 1.1.0)", "shaderInt64"};
  const Status status = check_usable(adapter);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::unsupported);
  EXPECT_EQ(to_string(status.error()),
            "cannot open device: 'vulkan:1' (Old Card): it lacks Vulkan 1.3 (its driver has "
            "1.1.0), shaderInt64\n  a newer driver may have it: this is olddrv, Mesa 18");
}

TEST(DeviceMemory, CoresOfANodeShareIt) {
  const auto node = device_memory("cpu:0");
  const auto core = device_memory("cpu:0[0]");
  ASSERT_TRUE(node.has_value()) << to_string(node.error());
  ASSERT_TRUE(core.has_value()) << to_string(core.error());
  EXPECT_EQ(node->place, "node 0");
  EXPECT_EQ(core->place, node->place);
  EXPECT_EQ(core->total_bytes, node->total_bytes);
  EXPECT_GT(node->free_bytes, 0U);
  EXPECT_LE(node->free_bytes, node->total_bytes);
  EXPECT_TRUE(node->is_of_host);
  EXPECT_FALSE(device_memory("cpu:0[4095]").has_value());
  EXPECT_FALSE(device_memory("cpu:1023").has_value());
}

TEST(DeviceModel, TellsDevicesApartByWhatComputes) {
  const auto cores = cpu::read_cpu_node(0)->cpus.size();
  EXPECT_EQ(*device_model("cpu:0", 0), *device_model("cpu:0", cores));
  EXPECT_NE(*device_model("cpu:0", cores), *device_model("cpu:0", cores + 1));
}

// With whatever adapter there is: a software one on most machines that build.
class OnAnAdapter : public testing::Test {
 protected:
  void SetUp() override {
    const auto instance = vulkan::Instance::get();
    if (!instance) GTEST_SKIP() << to_string(instance.error());
    adapter_ = (*instance)->adapters()[0];
    if (!adapter_.missing.empty()) GTEST_SKIP() << "it cannot be used";
  }
  Adapter adapter_;
};

TEST_F(OnAnAdapter, DevicesShareItsMemory) {
  const auto first = device_memory("vulkan:0");
  const auto second = device_memory("vulkan:0#1");
  ASSERT_TRUE(first.has_value()) << to_string(first.error());
  ASSERT_TRUE(second.has_value()) << to_string(second.error());
  EXPECT_EQ(first->place, "vulkan:0");
  EXPECT_EQ(second->place, first->place);
  EXPECT_EQ(first->is_of_host, adapter_.is_software());
  EXPECT_LE(first->free_bytes, first->total_bytes);
  EXPECT_EQ(*device_model("vulkan:0", 0), adapter_.name);
  EXPECT_EQ(*device_model("vulkan:0#1", 7), adapter_.name);
}

TEST_F(OnAnAdapter, OneDeviceByTwoNamesIsFound) {
  const std::string by_name = "vulkan:" + adapter_.name.substr(0, adapter_.name.find(','));
  const auto status = check_devices({"vulkan:0", by_name});
  ASSERT_FALSE(status.has_value());
  if (status.error().why.starts_with("it may be any of")) GTEST_SKIP() << "two alike";
  EXPECT_EQ(status.error().code, Code::invalid_argument);
  EXPECT_EQ(status.error().where, "'" + by_name + "'");
  EXPECT_EQ(status.error().why, "it is the same device as 'vulkan:0'");
  EXPECT_EQ(status.error().remedy, "two devices on one card are vulkan:0 and vulkan:0#1");
  const auto apart = check_devices({"vulkan:0", by_name + "#1", "cpu:0"});
  EXPECT_TRUE(apart.has_value()) << to_string(apart.error());
  if (adapter_.pci_address.empty()) return;
  EXPECT_FALSE(check_devices({"vulkan:0", "vulkan:" + adapter_.pci_address}).has_value());
}

TEST_F(OnAnAdapter, OneThatIsNotThereIsNamedWithThoseThatAre) {
  for (const std::string name : {"vulkan:99", "vulkan:no such card"}) {
    const auto status = check_devices({name});
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, Code::invalid_argument);
    EXPECT_EQ(status.error().where, "'" + name + "'");
    EXPECT_TRUE(status.error().remedy.find("0 is " + adapter_.name) != std::string::npos)
        << status.error().remedy;
    EXPECT_FALSE(device_memory(name).has_value());
    EXPECT_FALSE(create_device(name, 0).has_value());
  }
}

}  // namespace
}  // namespace evener::device
