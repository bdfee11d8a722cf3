// A device that is lost in the middle of a run. Judged here: who runs is told so, the device is
// made anew with the model on it, and what is said afterwards is what was said before. Method: a
// device that computes on the CPU and says when it is lost.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/create_device.h"
#include "device/lossy_device.h"
#include "engine/many_ranks.h"
#include "engine/models.h"
#include "engine/open_model.h"
#include "engine/renew_seat.h"
#include "engine/solo_ranks.h"
#include "model/loader.h"

namespace evener::engine {
namespace {

using ReportState = RanksReport::State;

constexpr const char* kHere = "cpu:0[0]";
constexpr const char* kNowhere = "cpu:0[4095]";  // no device of this name can be made

const model::MemoryPlan kSmall{
    .num_rows = 4, .num_logit_rows = 4, .num_pages = 2, .page_size = 64, .num_slots = 1};

// What the ranks say after one token.
Result<std::vector<float>> say(Ranks& ranks) {
  const std::vector<int32_t> tokens = {17};
  const std::vector<int32_t> zero = {0};
  const device::Slice slice{
      .first_row = 0, .num_rows = 1, .first_position = 0, .pages = zero, .state_slot = 0};
  ranks.clear_state(0);
  ranks.begin({.input = {.tokens = tokens,
                         .positions = zero,
                         .batch = {.slices = {&slice, 1}, .num_rows = 1},
                         .logit_rows = zero}});
  ASSIGN_OR_RETURN(const PassResult* const result, ranks.end());
  return result->logits;
}

class LostDevice : public testing::Test {
 protected:
  LostDevice() : file_(std::make_shared<gguf::File>(*open_model(model_path("qwen35")))) {}

  // The last rank has the device that can be lost, under this name.
  RankSeats seats(const parallel::Layout& layout, const std::string& name,
                  const std::string& inside = kHere) {
    const auto parts = *model::cut_model(*file_, layout);
    RankSeats all{.layout = layout, .seats = {}};
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      RankSeat seat{.device_name = kHere,
                    .num_threads = 0,
                    .file = file_,
                    .device = *device::create_device(kHere, 0),
                    .model = nullptr};
      if (rank + 1 == parts.size()) {
        seat.device_name = name;
        seat.device =
            std::make_shared<device::LossyDevice>(*device::create_device(inside, 0), fate_);
      }
      seat.model = *model::load_model(*file_, parts[rank], *seat.device, {});
      all.seats.push_back(std::move(seat));
    }
    return all;
  }
  std::unique_ptr<SoloRanks> solo(const std::string& name, size_t max_restarts = 3) {
    return *SoloRanks::create(seats({}, name), {.memory = kSmall, .max_restarts = max_restarts});
  }
  std::unique_ptr<ManyRanks> many(const std::string& name, ManyRanks::Options options) {
    options.team.memory = kSmall;
    return *ManyRanks::create(seats({.ratio = {1, 1}}, name), std::move(options));
  }

  std::shared_ptr<const gguf::File> file_;
  std::shared_ptr<device::DeviceFate> fate_ = std::make_shared<device::DeviceFate>();
};

TEST_F(LostDevice, OfARankOnItsOwnIsMadeAnew) {
  const auto ranks = solo(kHere);
  const std::vector<float> expected = *say(*ranks);
  fate_->is_lost = true;
  const auto failed = say(*ranks);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::unavailable);
  EXPECT_EQ(to_string(failed.error()), "cannot compute: cpu:0[0]: VK_ERROR_DEVICE_LOST");
  EXPECT_FALSE(say(*ranks).has_value()) << "until the restart";
  EXPECT_TRUE(ranks->expert_uses().empty());
  RanksReport report = ranks->report();
  EXPECT_EQ(report.state, ReportState::restarting);
  EXPECT_EQ(report.reason, "cpu:0[0]: VK_ERROR_DEVICE_LOST");
  const RanksReport::Failure failure{.rank = "0", .device = kHere, .kind = "device"};
  EXPECT_EQ(report.failures, (std::map<RanksReport::Failure, uint64_t>{{failure, 1}}));

  const auto restarted = ranks->restart();
  ASSERT_TRUE(restarted.has_value()) << to_string(restarted.error());
  EXPECT_EQ(*restarted, Restart::same_layout);
  EXPECT_EQ(*say(*ranks), expected);
  report = ranks->report();
  EXPECT_EQ(report.state, ReportState::running);
  EXPECT_EQ(report.num_restarts, 1U);
}

TEST_F(LostDevice, GivesNoBytesThatAreToBeKept) {
  const auto ranks = solo(kHere);
  std::vector<std::byte> page(ranks->page_bytes());
  std::vector<std::byte> state(ranks->state_bytes());
  EXPECT_TRUE(ranks->read_page(0, page).has_value());
  EXPECT_TRUE(ranks->read_state(0, state).has_value());
  fate_->is_lost = true;
  EXPECT_FALSE(ranks->read_page(0, page).has_value());
  EXPECT_FALSE(ranks->read_state(0, state).has_value());
  EXPECT_EQ(ranks->page_bytes(), page.size());
  ranks->write_page(0, page);  // nobody asks whether it may
  ranks->copy_state(0, 0);
  EXPECT_EQ(ranks->report().failures.begin()->second, 1U) << "it is one failure";
}

TEST_F(LostDevice, ThatDoesNotComeBackLeavesTheRankDownWithAReason) {
  const auto ranks = solo(kNowhere, 1);
  fate_->is_lost = true;
  EXPECT_FALSE(say(*ranks).has_value());
  const auto restarted = ranks->restart();
  ASSERT_FALSE(restarted.has_value());
  EXPECT_EQ(restarted.error().code, Code::invalid_argument);
  EXPECT_TRUE(restarted.error().why.starts_with("'cpu:0[4095]': there is no core 4095"))
      << restarted.error().why;
  EXPECT_TRUE(restarted.error().why.ends_with("; as many restarts within an hour as may be: 1"));
  EXPECT_EQ(ranks->report().state, ReportState::down);
  EXPECT_EQ(ranks->report().reason, restarted.error().why);
}

TEST_F(LostDevice, IsNotWaitedForAtTheEnd) {
  const auto ranks = solo(kHere);
  fate_->is_lost = true;
  EXPECT_FALSE(say(*ranks).has_value());
  ranks->interrupt();
  const auto restarted = ranks->restart();
  ASSERT_FALSE(restarted.has_value());
  EXPECT_EQ(restarted.error().code, Code::cancelled);
}

TEST_F(LostDevice, OfOneOfSeveralRanksIsNamedAndMadeAnew) {
  const auto ranks = many(kHere, {});
  const std::vector<float> expected = *say(*ranks);
  fate_->is_lost = true;
  const auto failed = say(*ranks);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::unavailable);
  EXPECT_EQ(failed.error().why, "rank 1 (cpu:0[0]), its device: VK_ERROR_DEVICE_LOST");
  const RanksReport::Failure failure{.rank = "1", .device = kHere, .kind = "device"};
  EXPECT_EQ(ranks->report().failures, (std::map<RanksReport::Failure, uint64_t>{{failure, 1}}));
  ASSERT_TRUE(ranks->restart().has_value());
  EXPECT_EQ(*say(*ranks), expected);
  EXPECT_EQ(ranks->report().state, ReportState::running);
}

TEST_F(LostDevice, ThatDoesNotComeBackIsDoneWithout) {
  std::vector<std::string> lost;
  const auto fallback = [&](const std::vector<std::string>& devices) -> Result<RankSeats> {
    lost = devices;
    fate_->is_lost = false;
    return seats({}, kHere);
  };
  const auto ranks = many(kNowhere, {.team = {}, .max_restarts = 1, .fallback = fallback});
  fate_->is_lost = true;
  EXPECT_FALSE(say(*ranks).has_value());
  const auto restarted = ranks->restart();
  ASSERT_TRUE(restarted.has_value()) << to_string(restarted.error());
  EXPECT_EQ(*restarted, Restart::other_layout);
  EXPECT_EQ(lost, std::vector<std::string>{kNowhere});
  EXPECT_TRUE(say(*ranks).has_value());
  EXPECT_EQ(ranks->report().state, ReportState::degraded);
}

// With whatever adapter there is: a software one on most machines that build.
TEST_F(LostDevice, ThatIsACardIsMadeAnew) {
  const std::string card = "vulkan:0";
  const auto probe = device::create_device(card, 0);
  if (!probe) GTEST_SKIP() << to_string(probe.error());
  const auto ranks = *SoloRanks::create(seats({}, card, card), {.memory = kSmall});
  const std::vector<float> expected = *say(*ranks);
  fate_->is_lost = true;
  ASSERT_FALSE(say(*ranks).has_value());
  const auto restarted = ranks->restart();
  ASSERT_TRUE(restarted.has_value()) << to_string(restarted.error());
  EXPECT_EQ(*say(*ranks), expected);
}

TEST_F(LostDevice, IsRenewedWithItsWeightsUnlessTheyAreInUse) {
  RankSeats all = seats({}, kHere);
  RankSeat& seat = all.seats[0];
  EXPECT_TRUE(is_sound(seat));
  fate_->is_lost = true;
  EXPECT_FALSE(is_sound(seat));
  const auto model = seat.model;
  const auto device = seat.device;
  ASSERT_TRUE(renew(all, 0, OldDevice::in_use).has_value());
  EXPECT_EQ(seat.model, model) << "any device of the host computes with it";
  EXPECT_NE(seat.device, device);
  EXPECT_TRUE(is_sound(seat));
  ASSERT_TRUE(renew(all, 0, OldDevice::lost).has_value());
  EXPECT_NE(seat.model, model);
  seat.device_name = kNowhere;
  EXPECT_FALSE(renew(all, 0, OldDevice::lost).has_value());
  EXPECT_FALSE(is_sound(seat));
  seat.device_name = kHere;
  EXPECT_TRUE(renew(all, 0, OldDevice::lost).has_value()) << "it may be tried again";
  EXPECT_TRUE(is_sound(seat));
}

}  // namespace
}  // namespace evener::engine
