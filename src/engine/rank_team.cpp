#include "engine/rank_team.h"

#include <algorithm>
#include <utility>

#include "device/choose_link.h"
#include "engine/rank_thread.h"
#include "engine/remote_rank.h"
#include "parallel/direct_link.h"
#include "parallel/rank_errors.h"
#include "parallel/thread_comm.h"

namespace evener::engine {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Ranks that wait for each other see first that one is late, and say more about it.
std::chrono::milliseconds patience(std::chrono::milliseconds deadline) {
  return deadline + deadline / 8;
}

// A rank that shows signs of life is waited for, for it will come to the end of its command.
constexpr auto kPatienceMax = 60s;
constexpr auto kLook = 100ms;

// From each stage to the next. Only ranks of this process have devices here.
std::vector<parallel::DirectLink> choose_links(const RankSeats& seats, device::PeerUse use) {
  const parallel::Grid grid = seats.layout.grid();
  std::vector<parallel::DirectLink> links;
  for (size_t rank = 0; rank + grid.num_shards < grid.num_ranks(); ++rank) {
    const size_t next = rank + grid.num_shards;
    auto link = device::choose_link(seats.seats[rank].device, seats.seats[next].device, use);
    if (link) links.push_back({.from = rank, .to = next, .link = std::move(link)});
  }
  return links;
}

}  // namespace

Result<std::unique_ptr<RankTeam>> RankTeam::start(const RankSeats& seats, const Options& options) {
  auto team = std::unique_ptr<RankTeam>(new RankTeam(seats, options));
  auto comms = parallel::connect_threads(seats.layout.grid(), team->comm_,
                                         choose_links(seats, options.peer));
  for (size_t rank = 0; rank < seats.seats.size(); ++rank) {
    team->take_seat(rank, seats.seats[rank], std::move(comms[rank]));
  }
  RETURN_IF_ERROR(team->wait_until_ready());
  return team;
}

Result<std::unique_ptr<RankTeam>> RankTeam::start(parallel::MpiWorld& world, const RankSeats& seats,
                                                  const Options& options) {
  auto team = std::unique_ptr<RankTeam>(new RankTeam(seats, options));
  ASSIGN_OR_RETURN(auto comms, world.connect(seats.layout.grid(), team->comm_));
  team->take_seat(0, seats.seats[0], std::move(comms));
  for (size_t rank = 1; rank < seats.seats.size(); ++rank) {
    team->ranks_.push_back(std::make_unique<RemoteRank>(world, rank, team->desk_));
  }
  RETURN_IF_ERROR(team->wait_until_ready());
  return team;
}

RankTeam::RankTeam(const RankSeats& seats, const Options& options)
    : options_(options),
      comm_{.deadline = options.deadline, .names = rank_names(seats.seats)},
      desk_(std::make_shared<RankDesk>(seats.seats.size())) {}

void RankTeam::take_seat(size_t rank, const RankSeat& seat, parallel::RankComms comms) {
  ranks_.push_back(std::make_unique<RankThread>(SeatedRank::Options{.rank = rank,
                                                                    .seat = seat,
                                                                    .comms = std::move(comms),
                                                                    .memory = options_.memory,
                                                                    .comm = comm_,
                                                                    .fault = options_.fault,
                                                                    .gate = options_.gate},
                                                desk_));
}

Status RankTeam::wait_until_ready() {
  RETURN_IF_ERROR(wait(kSetUp));
  for (const auto& rank : ranks_) {
    page_bytes_.add(rank->page_bytes());
    state_bytes_.add(rank->state_bytes());
  }
  return {};
}

RankTeam::~RankTeam() { retire(); }

size_t RankTeam::first_byte(const RankCommand& command, size_t rank) const {
  return (is_of_page(command.kind) ? page_bytes_ : state_bytes_).begin(rank);
}

uint64_t RankTeam::post(const RankCommand& command) {
  ++last_number_;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    RankCommand own = command;
    own.number = last_number_;
    if (own.bytes) own.first_byte = first_byte(command, rank);
    own.rank = rank;
    ranks_[rank]->post(std::move(own));
  }
  return last_number_;
}

Status RankTeam::wait(uint64_t number) {
  const Clock::time_point began = Clock::now();
  return desk_->wait(
      number, std::max<std::chrono::milliseconds>(options_.deadline / 16, 1ms),
      [&](const std::vector<size_t>& ranks) { look_at(ranks, Clock::now() - began); });
}

// A rank that slept has had time to show signs of life only since it was asked.
void RankTeam::look_at(const std::vector<size_t>& ranks, std::chrono::nanoseconds waited) {
  for (const size_t rank : ranks) {
    const auto silent_for = std::min(ranks_[rank]->silent_for(), waited);
    if (silent_for < patience(options_.deadline)) continue;
    const Error error = parallel::silent_rank(parallel::RankNames(comm_.names.size(), comm_.names),
                                              rank, silent_for);
    for (const auto& other : ranks_) other->break_with(error);
    return desk_->fail(error);
  }
}

std::vector<size_t> RankTeam::retire() {
  if (std::exchange(retired_, true)) return {};
  const Clock::time_point began = Clock::now();
  const bool had_work = desk_->failure().has_value();  // else silence was no bad sign so far
  for (const auto& rank : ranks_) rank->close();
  std::vector<size_t> stuck;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    while (!desk_->wait_until_ended(rank, kLook)) {
      const Clock::duration waited = Clock::now() - began;
      const auto silent_for = ranks_[rank]->silent_for();
      const bool is_silent =
          (had_work ? silent_for : std::min(silent_for, waited)) >= options_.deadline;
      if (!is_silent && waited < kPatienceMax) continue;
      ranks_[rank]->give_up();
      stuck.push_back(rank);
      break;
    }
  }
  ranks_.clear();
  return stuck;
}

std::vector<std::chrono::nanoseconds> RankTeam::silences() const {
  std::vector<std::chrono::nanoseconds> silences;
  for (const auto& rank : ranks_) silences.push_back(rank->silent_for());
  return silences;
}

}  // namespace evener::engine
