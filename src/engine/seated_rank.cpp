#include "engine/seated_rank.h"

#include <utility>

#include "device/watched_device.h"
#include "parallel/rank_errors.h"
#include "parallel/self_test.h"
#include "parallel/timed_comm.h"

namespace evener::engine {

SeatedRank::SeatedRank(Options options)
    : options_(std::move(options)),
      heartbeats_(options_.comms.heartbeats),
      comms_(std::make_unique<parallel::RankComms>(std::move(options_.comms))) {}

Status SeatedRank::set_up() {
  const Status ready = make_ready();
  if (!ready) return tell(ready.error());
  return {};
}

Status SeatedRank::make_ready() {
  const RankSeat& seat = options_.seat;
  parallel::RankComms& comms = *comms_;
  device_ = device::watch_device(seat.device,
                                 {.times = seat.times, .before_call = [&comms] { comms.beat(); }});
  RETURN_IF_ERROR(device_->bind_thread());
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(*device_, *seat.model, options_.memory));
  rank_.emplace(*device_, *seat.model, comms, std::move(memory));
  RETURN_IF_ERROR(parallel::self_test(comms, *device_, options_.comm));
  const std::lock_guard lock(mutex_);  // others may break what is wrapped here
  if (options_.fault) parallel::inject_fault(comms, *options_.fault, options_.gate);
  if (seat.times) parallel::time_comms(comms, seat.times);
  return {};
}

Status SeatedRank::execute(const RankCommand& command) {
  if (failure_) return *failure_;
  if (command.pass) comms_->begin_pass(command.pass->number());
  const Status done = engine::execute(*rank_, command);
  if (!done) return tell(done.error());
  return {};
}

// Whatever others say of this rank, they know it by its number.
Error SeatedRank::tell(Error error) {
  const parallel::RankNames names(options_.comm.names.size(), options_.comm.names);
  const bool is_told_to_end = error.where.empty();
  error = is_told_to_end ? parallel::ended_rank(names, options_.rank)
                         : parallel::error_of_rank(names, options_.rank, std::move(error));
  comms_->break_with(error);
  failure_ = error;
  return error;
}

void SeatedRank::leave() {
  rank_.reset();
  const std::lock_guard lock(mutex_);
  comms_.reset();
}

void SeatedRank::break_with(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (comms_) comms_->break_with(error);
}

}  // namespace evener::engine
