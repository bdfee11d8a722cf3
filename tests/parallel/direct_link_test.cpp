// Goal: what is sent from stage to stage goes through a link where there is one and it fits, in the
// order in which it was sent, beside what goes through the host; a card that fails in the middle
// breaks the group. Method: a link in the host's memory that counts.
#include "parallel/direct_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "device/create_device.h"
#include "device/lossy_device.h"
#include "parallel/rank_rig.h"
#include "parallel/thread_comm.h"

namespace evener::parallel {
namespace {

using device::PeerLink;
using device::Tensor;

constexpr size_t kSlotFloats = 100;

class CountingLink final : public PeerLink {
 public:
  // Each end is its rank's own.
  void connect(size_t end, RankRig& rig) { rigs_[end] = &rig; }
  std::string_view how() const override { return "counted"; }
  size_t slot_bytes() const override { return kSlotFloats * sizeof(float); }
  bool send(size_t slot, const Tensor& x) override {
    EXPECT_TRUE(slots_[slot].empty()) << "not taken yet";
    slots_[slot] = rigs_[0]->values(x);
    ++num_sent;
    return true;
  }
  bool take(size_t slot, const Tensor& y) override {
    rigs_[1]->device().write(slots_[slot], y);
    slots_[slot].clear();
    return true;
  }

  std::atomic<size_t> num_sent = 0;

 private:
  std::array<RankRig*, 2> rigs_{};
  std::array<std::vector<float>, kNumSlots> slots_;
};

// Two stages with a link from the first to the second.
struct Linked {
  std::shared_ptr<CountingLink> link = std::make_shared<CountingLink>();
  std::vector<RankComms> ranks =
      connect_threads({.num_stages = 2, .num_shards = 1}, {}, {{.from = 0, .to = 1, .link = link}});
};

TEST(DirectLink, TakesWhatFitsAndKeepsTheOrder) {
  Linked linked;
  run_ranks(linked.ranks, [&](RankComms& comms) {
    RankRig here(Access::by_copies);
    linked.link->connect(comms.rank, here);
    for (size_t i = 0; i < 60; ++i) {
      const size_t rows = 1 + i % 3;
      const size_t cols = i % 4 == 0 ? 80 : 33;  // with two rows the former is too large
      const std::vector<float> values = random_values(rows * cols, i);
      if (comms.rank == 0) {
        comms.stages->send(here.device(), 1, here.put(rows, cols, values, i % 2));
      } else {
        const Tensor y = here.empty(rows, cols, i % 5);
        comms.stages->receive(here.device(), 0, y);
        EXPECT_TRUE(same_bits(here.values(y), values)) << i;
        EXPECT_TRUE(here.gaps_are_whole(y));
      }
    }
    EXPECT_TRUE(comms.status());
  });
  EXPECT_EQ(linked.link->num_sent, 50);
}

// The link of a card that is lost once it has sent so much.
class DyingLink final : public PeerLink {
 public:
  explicit DyingLink(std::shared_ptr<device::DeviceFate> fate) : fate_(std::move(fate)) {}
  std::string_view how() const override { return "dying"; }
  size_t slot_bytes() const override { return kSlotFloats * sizeof(float); }
  bool send(size_t slot, const Tensor&) override {
    if (slot == 1) fate_->is_lost = true;
    return slot == 0;
  }
  bool take(size_t, const Tensor&) override { return true; }

 private:
  std::shared_ptr<device::DeviceFate> fate_;
};

// The deadline is so long that only the news itself can end the wait.
TEST(DirectLink, OfALostCardBreaksTheGroupAtOnce) {
  const auto fate = std::make_shared<device::DeviceFate>();
  auto ranks = connect_threads(
      {.num_stages = 2, .num_shards = 1},
      {.deadline = std::chrono::hours(1), .names = {"rank 0 (vulkan:7)", "rank 1 (vulkan:8)"}},
      {{.from = 0, .to = 1, .link = std::make_shared<DyingLink>(fate)}});
  run_ranks(ranks, [&](RankComms& comms) {
    device::LossyDevice device(device::create_device("cpu:0[0]", 1).value(), fate);
    const auto memory = device.allocate(4 * sizeof(float)).value();
    const Tensor x{memory.get(), 0, 1, 4, 4};
    for (size_t i = 0; i < 2; ++i) {
      if (comms.rank == 0) {
        comms.stages->send(device, 1, x);
      } else {
        comms.stages->receive(device, 0, x);
      }
    }
    const Status status = comms.status();
    ASSERT_FALSE(status.has_value());
    EXPECT_THAT(to_string(status.error()), testing::HasSubstr("rank 0 (vulkan:7)"));
    EXPECT_THAT(to_string(status.error()), testing::HasSubstr("VK_ERROR_DEVICE_LOST"));
  });
}

TEST(DirectLink, IsOneWay) {
  Linked linked;
  run_ranks(linked.ranks, [&](RankComms& comms) {
    RankRig here(Access::by_copies);
    const std::vector<float> values = random_values(7, 1);
    if (comms.rank == 1) {
      comms.stages->send(here.device(), 0, here.put(1, 7, values));
    } else {
      const Tensor y = here.empty(1, 7);
      comms.stages->receive(here.device(), 1, y);
      EXPECT_TRUE(same_bits(here.values(y), values));
    }
  });
  EXPECT_EQ(linked.link->num_sent, 0);
}

}  // namespace
}  // namespace evener::parallel
