#include "engine/solo_ranks.h"

#include <utility>

#include "base/assert.h"
#include "device/watched_device.h"

namespace evener::engine {

Result<std::unique_ptr<SoloRanks>> SoloRanks::create(RankSeats seats,
                                                     const model::MemoryPlan& plan) {
  EVENER_ASSERT(seats.seats.size() == 1);
  const RankSeat& seat = seats.seats[0];
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(*seat.device, *seat.model, plan));
  auto timed = seat.times ? device::watch_device(seat.device, {.times = seat.times}) : nullptr;
  return std::unique_ptr<SoloRanks>(
      new SoloRanks(std::move(seats), std::move(timed), std::move(memory)));
}

SoloRanks::SoloRanks(RankSeats seats, std::unique_ptr<device::Device> timed,
                     model::RankMemory memory)
    : seats_(std::move(seats)),
      report_(report_of(seats_)),
      device_(std::move(timed)),
      rank_(device_ ? *device_ : *seats_.seats[0].device, *seats_.seats[0].model, comms_,
            std::move(memory)) {}

void SoloRanks::begin(const RankPass& pass) { status_ = rank_.run(pass, logits_); }

Result<std::span<const float>> SoloRanks::end() {
  RETURN_IF_ERROR(status_);
  return std::span<const float>(logits_);
}

void SoloRanks::write_page(int32_t page, std::span<const std::byte> bytes) {
  rank_.write_page(page, bytes);
}

void SoloRanks::write_state(int32_t slot, std::span<const std::byte> bytes) {
  rank_.write_state(slot, bytes);
}

Status SoloRanks::read_page(int32_t page, std::span<std::byte> bytes) {
  rank_.read_page(page, bytes);
  return {};
}

Status SoloRanks::read_state(int32_t slot, std::span<std::byte> bytes) {
  rank_.read_state(slot, bytes);
  return {};
}

Result<Restart> SoloRanks::restart() {
  EVENER_ASSERT(false);  // only after a failure
  return Restart::same_layout;
}

}  // namespace evener::engine
