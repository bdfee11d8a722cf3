#include "engine/solo_ranks.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "device/watched_device.h"
#include "engine/renew_seat.h"

namespace evener::engine {

using State = RanksReport::State;

Result<std::unique_ptr<SoloRanks>> SoloRanks::create(RankSeats seats, const Options& options) {
  EVENER_ASSERT(seats.seats.size() == 1);
  auto ranks = std::unique_ptr<SoloRanks>(new SoloRanks(std::move(seats), options));
  RETURN_IF_ERROR(ranks->take_seat());
  return ranks;
}

SoloRanks::SoloRanks(RankSeats seats, const Options& options)
    : options_(options),
      seats_(std::move(seats)),
      policy_(options.max_restarts),
      report_(report_of(seats_)) {}

Status SoloRanks::take_seat() {
  const RankSeat& seat = seats_.seats[0];
  ASSIGN_OR_RETURN(auto memory,
                   model::RankMemory::create(*seat.device, *seat.model, options_.memory));
  if (seat.times) device_ = device::watch_device(seat.device, {.times = seat.times});
  rank_.emplace(device_ ? *device_ : *seat.device, *seat.model, comms_, std::move(memory));
  page_bytes_ = rank_->page_bytes();
  state_bytes_ = rank_->state_bytes();
  return {};
}

void SoloRanks::begin(const RankPass& pass) {
  if (failure_) return;
  Status done = rank_->run(pass, result_);
  if (!done) note_failure(of_device(std::move(done).error()));
}

Result<const PassResult*> SoloRanks::end() {
  if (failure_) return *failure_;
  return &result_;
}

void SoloRanks::clear_state(int32_t slot) {
  if (!failure_) rank_->clear_state(slot);
}

void SoloRanks::copy_state(int32_t from, int32_t to) {
  if (!failure_) rank_->copy_state(from, to);
}

void SoloRanks::write_page(int32_t page, std::span<const std::byte> bytes) {
  if (!failure_) rank_->write_page(page, bytes);
}

void SoloRanks::write_state(int32_t slot, std::span<const std::byte> bytes) {
  if (!failure_) rank_->write_state(slot, bytes);
}

Status SoloRanks::noted(Status status) {
  if (status) return {};
  note_failure(of_device(std::move(status).error()));
  return *failure_;
}

Status SoloRanks::read_page(int32_t page, std::span<std::byte> bytes) {
  if (failure_) return *failure_;
  return noted(rank_->read_page(page, bytes));
}

Status SoloRanks::read_state(int32_t slot, std::span<std::byte> bytes) {
  if (failure_) return *failure_;
  return noted(rank_->read_state(slot, bytes));
}

std::vector<std::vector<uint64_t>> SoloRanks::expert_uses() {
  return failure_ ? std::vector<std::vector<uint64_t>>() : rank_->expert_uses();
}

void SoloRanks::reset_expert_uses() {
  if (!failure_) rank_->reset_expert_uses();
}

// There are no ranks that people would know of.
Error SoloRanks::of_device(Error error) const {
  error.doing = "compute";
  error.where = seats_.seats[0].device_name;
  return error;
}

void SoloRanks::note_failure(const Error& error) {
  log_failure(error);
  failure_ = without_where(error);
  const RanksReport::Failure key{
      .rank = "0", .device = seats_.seats[0].device_name, .kind = "device"};
  const std::lock_guard lock(mutex_);
  report_.state = State::restarting;
  report_.reason = reason_of(error);
  ++report_.failures[key];
  report_.last_failure = key;
}

Result<Restart> SoloRanks::restart() {
  EVENER_ASSERT(failure_.has_value());
  while (failure_) {
    rank_.reset();  // its caches make room
    device_.reset();
    const auto wait = policy_.next(std::chrono::steady_clock::now() - start_);
    if (!wait) return go_down();
    if (!wait_.wait(*wait)) return restart_interrupted();
    Status ready = is_sound(seats_.seats[0]) ? Status() : renew(seats_, 0, OldDevice::lost);
    if (ready) ready = take_seat();
    if (ready) {
      failure_.reset();
    } else {
      note_failure(ready.error());
    }
  }
  const std::lock_guard lock(mutex_);
  ++report_.num_restarts;
  report_.state = State::running;
  log::info("the device runs again: {}", report_.layout);
  return Restart::same_layout;
}

Error SoloRanks::go_down() {
  Error why = *failure_;
  why.doing = "go on after a failure of the device";
  why.why += fmt::format("; as many restarts within an hour as may be: {}", options_.max_restarts);
  log_failure(why);
  const std::lock_guard lock(mutex_);
  report_.state = State::down;
  report_.reason = why.why;
  return why;
}

RanksReport SoloRanks::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace evener::engine
