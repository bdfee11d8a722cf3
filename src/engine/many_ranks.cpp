#include "engine/many_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "engine/rank_failure.h"
#include "engine/renew_seat.h"
#include "parallel/rank_errors.h"

namespace evener::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = RankCommand::Kind;
using State = RanksReport::State;

}  // namespace

Result<std::unique_ptr<ManyRanks>> ManyRanks::create(RankSeats seats, Options options) {
  auto ranks = std::unique_ptr<ManyRanks>(new ManyRanks(std::move(seats), std::move(options)));
  RETURN_IF_ERROR(ranks->start_team());
  return ranks;
}

ManyRanks::ManyRanks(RankSeats seats, Options options)
    : options_(std::move(options)),
      seats_(std::move(seats)),
      policy_(options_.start ? 0 : options_.max_restarts),
      depth_(seats_.layout.grid().num_stages) {
  note_layout();
}

ManyRanks::~ManyRanks() {
  team_.reset();
  gate_->open();  // ranks that hang on purpose end, and free what is theirs
}

Status ManyRanks::start_team() {
  RankTeam::Options options = options_.team;
  if (options_.fault && num_lives_++ < options_.fault->times) {
    log::warning("rank {} is to fail on purpose", options_.fault->rank);
    options.fault = options_.fault;
    options.gate = gate_;
  }
  ASSIGN_OR_RETURN(auto team, is_made_once() ? options_.start(seats_, options)
                                             : RankTeam::start(seats_, options));
  page_bytes_ = team->page_bytes();
  state_bytes_ = team->state_bytes();
  const std::lock_guard lock(mutex_);
  team_ = std::move(team);
  return {};
}

void ManyRanks::note_layout() {
  depth_ = seats_.layout.grid().num_stages;
  const RanksReport now = report_of(seats_);
  const std::lock_guard lock(mutex_);
  report_.layout = now.layout;
  report_.ranks = now.ranks;
}

// All ranks have done what is neither in flight nor ended last.
std::shared_ptr<StoredPass> ManyRanks::free_pass() {
  for (const auto& pass : passes_) {
    const auto is_it = [&](const InFlight& flight) { return flight.pass == pass; };
    if (pass != ended_ && std::ranges::none_of(in_flight_, is_it)) return pass;
  }
  return passes_.emplace_back(std::make_shared<StoredPass>());
}

void ManyRanks::begin(const RankPass& pass) {
  if (failure_) return;
  EVENER_ASSERT(in_flight_.size() < depth_);
  const auto stored = free_pass();
  stored->store(pass, ++num_passes_);
  in_flight_.push_back(
      {.pass = stored, .number = team_->post({.kind = Kind::run, .pass = stored})});
}

Result<const PassResult*> ManyRanks::end() {
  if (failure_) return *failure_;
  EVENER_ASSERT(!in_flight_.empty());
  RETURN_IF_ERROR(wait(in_flight_.front().number));
  ended_ = std::move(in_flight_.front().pass);
  in_flight_.pop_front();
  return &ended_->result;
}

Status ManyRanks::wait(uint64_t number) {
  const Status done = team_->wait(number);
  if (done) return {};
  note_failure(done.error());
  return *failure_;
}

void ManyRanks::clear_state(int32_t slot) {
  if (!failure_) team_->post({.kind = Kind::clear_state, .to = slot});
}

void ManyRanks::copy_state(int32_t from, int32_t to) {
  if (!failure_) team_->post({.kind = Kind::copy_state, .from = from, .to = to});
}

void ManyRanks::write(RankCommand command, std::span<const std::byte> bytes) {
  if (failure_) return;
  command.bytes = std::make_shared<RankCommand::Bytes>(bytes.begin(), bytes.end());
  team_->post(command);
}

void ManyRanks::write_page(int32_t page, std::span<const std::byte> bytes) {
  EVENER_ASSERT(bytes.size() == page_bytes_);
  write({.kind = Kind::write_page, .to = page}, bytes);
}

void ManyRanks::write_state(int32_t slot, std::span<const std::byte> bytes) {
  EVENER_ASSERT(bytes.size() == state_bytes_);
  write({.kind = Kind::write_state, .to = slot}, bytes);
}

Status ManyRanks::read(RankCommand command, std::span<std::byte> bytes) {
  if (failure_) return *failure_;
  command.bytes = std::make_shared<RankCommand::Bytes>(bytes.size());
  RETURN_IF_ERROR(wait(team_->post(command)));
  std::ranges::copy(*command.bytes, bytes.begin());
  return {};
}

Status ManyRanks::read_page(int32_t page, std::span<std::byte> bytes) {
  EVENER_ASSERT(bytes.size() == page_bytes_);
  return read({.kind = Kind::read_page, .from = page}, bytes);
}

Status ManyRanks::read_state(int32_t slot, std::span<std::byte> bytes) {
  EVENER_ASSERT(bytes.size() == state_bytes_);
  return read({.kind = Kind::read_state, .from = slot}, bytes);
}

// Shards of a stage choose the same experts.
std::vector<std::vector<uint64_t>> ManyRanks::expert_uses() {
  if (failure_ || !team_) return {};
  const auto uses = std::make_shared<std::vector<RankCommand::ExpertUses>>(seats_.seats.size());
  if (!wait(team_->post({.kind = Kind::read_expert_uses, .uses = uses}))) return {};
  std::vector<std::vector<uint64_t>> of_layers;
  const parallel::Grid grid = seats_.layout.grid();
  for (size_t stage = 0; stage < grid.num_stages; ++stage) {
    for (auto& layer : (*uses)[grid.rank_at(stage, 0)]) of_layers.push_back(std::move(layer));
  }
  return of_layers;
}

void ManyRanks::reset_expert_uses() {
  if (!failure_) team_->post({.kind = Kind::reset_expert_uses});
}

void ManyRanks::note_failure(const Error& error) {
  log_failure(error);
  failure_ = without_where(error);
  const parallel::FailedRanks failed = parallel::failed_ranks(
      parallel::RankNames(seats_.seats.size(), rank_names(seats_.seats)), error);
  RanksReport::Failure key{.rank = "", .device = "", .kind = std::string(failed.how)};
  if (failed.ranks.size() == 1) {
    key.rank = std::to_string(failed.ranks[0]);
    key.device = seats_.seats[failed.ranks[0]].device_name;
    losses_.push_back({.rank = failed.ranks[0], .device = key.device, .at = Clock::now() - start_});
  }
  const std::lock_guard lock(mutex_);
  report_.state = State::restarting;
  report_.reason = reason_of(error);
  ++report_.failures[key];
  report_.last_failure = std::move(key);
}

Result<Restart> ManyRanks::restart() {
  EVENER_ASSERT(failure_.has_value());
  in_flight_.clear();
  passes_.clear();  // a rank that has been given up may still write into them
  ended_.reset();
  Restart outcome = Restart::same_layout;
  while (failure_) {
    leave_team();
    auto wait = policy_.next(Clock::now() - start_);
    if (!wait) {
      if (const Status fell = fall_back(); !fell) return go_down(fell.error());
      outcome = Restart::other_layout;
      wait = RestartPolicy::Duration::zero();
    }
    if (!wait_.wait(*wait)) return restart_interrupted();
    failure_.reset();
    if (const Status started = start_anew(); !started) note_failure(started.error());
  }
  const std::lock_guard lock(mutex_);
  ++report_.num_restarts;
  report_.state = has_fallen_back_ ? State::degraded : State::running;
  log::info("the ranks run again: {}", report_.layout);
  return outcome;
}

// Ranks that do not end keep their devices.
void ManyRanks::leave_team() {
  std::unique_ptr<RankTeam> team;
  {
    const std::lock_guard lock(mutex_);
    team = std::move(team_);
  }
  if (!team) return;
  for (const size_t rank : team->retire()) {
    log::warning("{} does not end and is given up, with its caches",
                 rank_name(rank, seats_.seats[rank].device_name));
    given_up_.insert(rank);
  }
}

// On devices that are sound, unless they are other processes'.
Status ManyRanks::start_anew() {
  for (size_t rank = 0; rank < seats_.seats.size() && !is_made_once(); ++rank) {
    const bool is_given_up = given_up_.contains(rank);
    if (!is_given_up && is_sound(seats_.seats[rank])) continue;
    const Status renewed = renew(seats_, rank, is_given_up ? OldDevice::in_use : OldDevice::lost);
    if (!renewed) {
      const parallel::RankNames names(seats_.seats.size(), rank_names(seats_.seats));
      return parallel::error_of_rank(names, rank, renewed.error());
    }
    given_up_.erase(rank);
  }
  return start_team();
}

// To a layout without the devices that were lost.
Status ManyRanks::fall_back() {
  Error why = *failure_;
  why.doing = "go on after a failure of ranks";
  why.why += is_made_once() ? "; processes cannot be made anew: start mpirun again"
                            : fmt::format("; as many restarts within an hour as may be: {}",
                                          options_.max_restarts);
  if (!options_.fallback) return why;
  const auto lately = Clock::now() - start_ - RestartPolicy::kWindow;
  std::erase_if(losses_, [lately](const Loss& loss) { return loss.at < lately; });
  if (losses_.empty()) {
    why.why += "; it is not known which rank is to blame";
    return why;
  }
  // Of ranks that are processes only the first has a device here.
  if (is_made_once() && std::ranges::find(losses_, size_t{0}, &Loss::rank) != losses_.end()) {
    why.why += "; no other device is left to this process";
    return why;
  }
  for (const Loss& loss : losses_) {
    const bool is_new = std::ranges::find(lost_devices_, loss.device) == lost_devices_.end();
    if (is_new) lost_devices_.push_back(loss.device);
  }
  losses_.clear();
  seats_.seats.clear();  // its weights make room
  given_up_.clear();
  auto seats = options_.fallback(lost_devices_);
  if (!seats) {
    why.why += "; without " + fmt::format("{}", fmt::join(lost_devices_, ", ")) + ": " +
               reason_of(seats.error());
    return why;
  }
  seats_ = *std::move(seats);
  policy_ = RestartPolicy(options_.max_restarts);
  has_fallen_back_ = true;
  note_layout();
  log::warning("going on without the ranks that failed: {}", layout_text(seats_));
  return {};
}

Error ManyRanks::go_down(const Error& why) {
  log_failure(why);
  const std::lock_guard lock(mutex_);
  report_.state = State::down;
  report_.reason = reason_of(why);
  return why;
}

void ManyRanks::interrupt() { wait_.interrupt(); }

RanksReport ManyRanks::report() const {
  const std::lock_guard lock(mutex_);
  RanksReport report = report_;
  if (!team_) return report;
  const auto silences = team_->silences();
  for (size_t rank = 0; rank < silences.size(); ++rank) {
    report.ranks[rank].silent_for = silences[rank];
  }
  return report;
}

}  // namespace evener::engine
