// Goal: memory that two cards share says the same to both, and a link through it leaves what the
// way through the host leaves; a link that does not is refused. Method: two devices on the first
// adapter.
#include "device/vulkan/peer_memory.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/burn_in.h"
#include "device/choose_link.h"
#include "device/create_device.h"
#include "device/peer_link.h"
#include "device/rig.h"
#include "device/tested_vulkan.h"
#include "device/vulkan/vulkan_device.h"

namespace evener::device::vulkan {
namespace {

using reference::Matrix;

constexpr size_t kSlotBytes = size_t{3} << 20;

size_t num_open_files() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

class VulkanPeerMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (tested_vulkan() == nullptr) GTEST_SKIP() << "needs Vulkan";
    if (!adapter().shares_memory_by_fd) GTEST_SKIP() << "needs VK_KHR_external_memory_fd";
  }

  static const Adapter& adapter() { return tested_vulkan()->adapters()[0]; }
  static std::shared_ptr<Gpu> gpu() { return Gpu::create(tested_vulkan(), 0).value(); }
  static std::shared_ptr<Device> card(size_t part) {
    auto made = create_vulkan_device({.adapter = 0, .part = part});
    EXPECT_TRUE(made.has_value()) << to_string(made.error());
    return std::move(made).value();
  }

  static TestDevice as_test_device(const std::shared_ptr<Device>& device) {
    return {.name = "vulkan", .make = [device](size_t) { return device; }};
  }

  const std::shared_ptr<Device> first_ = tested_vulkan() == nullptr ? nullptr : card(0);
  const std::shared_ptr<Device> second_ = tested_vulkan() == nullptr ? nullptr : card(1);
};

// Hands all on, but for one bit of a word that comes late in large tensors.
class FlawedLink final : public PeerLink {
 public:
  FlawedLink(std::unique_ptr<PeerLink> link, std::shared_ptr<Device> to)
      : link_(std::move(link)), to_(std::move(to)) {}
  std::string_view how() const override { return "flawed"; }
  size_t slot_bytes() const override { return link_->slot_bytes(); }
  bool send(size_t slot, const Tensor& x) override { return link_->send(slot, x); }
  bool take(size_t slot, const Tensor& y) override {
    if (!link_->take(slot, y)) return false;
    constexpr size_t kFlawed = 100'000;
    if (y.cols <= kFlawed) return true;
    const Tensor word = y.columns(kFlawed, 1);
    float value = 0;
    to_->read(word, {&value, 1});
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ 1);
    to_->write({&value, 1}, word);
    return true;
  }

 private:
  std::unique_ptr<PeerLink> link_;
  std::shared_ptr<Device> to_;
};

TEST_F(VulkanPeerMemory, LeavesNoFileOpen) {
  const auto owner = gpu();
  const auto peer = gpu();
  const auto make = [&] {
    const auto memory = PeerMemory::create(owner, peer, 100'000);
    ASSERT_TRUE(memory.has_value()) << to_string(memory.error());
    EXPECT_GE((*memory)->at_owner().size_bytes, 100'000U);
    EXPECT_NE((*memory)->at_owner().buffer, (*memory)->at_peer().buffer);
    const bool may_be_dma_buf = adapter().shares_memory_as_dma_buf;
    EXPECT_TRUE(may_be_dma_buf || (*memory)->handle() == PeerHandle::opaque_fd);
  };
  make();  // a driver may keep what it opens first
  const size_t before = num_open_files();
  for (size_t i = 0; i < 5; ++i) make();
  EXPECT_EQ(num_open_files(), before);
}

TEST_F(VulkanPeerMemory, OfTooManyBytesIsRefused) {
  const auto memory = PeerMemory::create(gpu(), gpu(), size_t{1} << 46);
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().code, Code::unsupported) << to_string(memory.error());
}

TEST_F(VulkanPeerMemory, LinkPassesTheBurnInBothWays) {
  for (const auto& [from, to] : {std::pair(first_, second_), std::pair(second_, first_)}) {
    const auto link = link_devices(from, to, kSlotBytes);
    ASSERT_TRUE(link.has_value()) << to_string(link.error());
    EXPECT_GE((*link)->slot_bytes(), kSlotBytes);
    const Status status = burn_in(**link, *from, *to);
    EXPECT_TRUE(status.has_value()) << to_string(status.error());
    EXPECT_GT(direct_bytes_per_s(**link, *from, *to).value(), 0);
    EXPECT_GT(host_bytes_per_s(*from, *to, kSlotBytes).value(), 0);
  }
}

TEST_F(VulkanPeerMemory, FlawedLinkIsRefused) {
  FlawedLink link(link_devices(first_, second_, kSlotBytes).value(), second_);
  const Status status = burn_in(link, *first_, *second_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(to_string(status.error()),
            "cannot test the way between cards: vulkan:0#1: word 100000 of 262145 was 0x00000001 "
            "instead of 0x00000000\n  data go through the host");
  EXPECT_TRUE(first_->status().has_value());
}

// Rows side by side and apart, in both slots, through links that come and go.
TEST_F(VulkanPeerMemory, LinkLeavesTheBitsThatTheHostLeaves) {
  Rig from(as_test_device(first_), 1);
  Rig to(as_test_device(second_), 1);
  std::mt19937 random(7);
  for (size_t round = 0; round < 3; ++round) {
    const auto link = link_devices(first_, second_, kSlotBytes).value();
    for (const size_t gap : {0, 5}) {
      for (const size_t rows : {1, 2, 37}) {
        const Tensor x = from.put(random_matrix(random, rows, 130), gap);
        const Tensor by_link = to.empty(rows, 130, 2 * gap);
        const Tensor by_host = to.empty(rows, 130, 2 * gap);
        const size_t slot = rows % PeerLink::kNumSlots;
        ASSERT_TRUE(link->send(slot, x));
        ASSERT_TRUE(link->take(slot, by_link));
        to.device().write(from.get(x), by_host);
        expect_equal_bits(to.get(by_link), to.get(by_host), std::to_string(rows) + " rows");
      }
    }
  }
}

TEST_F(VulkanPeerMemory, LinkIsChosenAsAskedFor) {
  EXPECT_EQ(choose_link(first_, second_, PeerUse::off), nullptr);
  testing::internal::CaptureStderr();
  const auto link = choose_link(first_, second_, PeerUse::always);
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_NE(link, nullptr) << log;
  EXPECT_NE(log.find("vulkan:0 to vulkan:0#1: directly (" + std::string(link->how()) + "), "),
            std::string::npos)
      << log;
  EXPECT_NE(log.find(" GB/s; through the host "), std::string::npos) << log;
}

TEST(PeerLink, IsForTwoCards) {
  const std::shared_ptr<Device> cpu = create_device("cpu:0", 1).value();
  const auto link = link_devices(cpu, cpu, kSlotBytes);
  ASSERT_FALSE(link.has_value());
  EXPECT_EQ(link.error().code, Code::unsupported);
  EXPECT_EQ(choose_link(cpu, cpu, PeerUse::always), nullptr);
}

}  // namespace
}  // namespace evener::device::vulkan
