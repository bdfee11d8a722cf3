#include "engine/load_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "device/create_device.h"
#include "engine/solo_ranks.h"

namespace evener::engine {
namespace {

using namespace std::chrono_literals;

constexpr auto kProgressInterval = 50ms;

// What the loading threads of all ranks and the one that waits for them tell each other.
class Loading {
 public:
  explicit Loading(size_t num_ranks) : done_(num_ranks), total_(num_ranks) {}

  // From a rank's thread; false: it is to end.
  bool progress(size_t rank, size_t done, size_t total) {
    done_[rank] = done;
    total_[rank] = total;
    return !cancelled_;
  }

  void end(size_t rank, Status status) {
    const std::lock_guard lock(mutex_);
    ++num_ended_;
    // Who was cancelled was so for the sake of another's error.
    if (!status && (!error_ || error_->code == Code::cancelled)) {
      error_ = std::move(status).error();
      failed_rank_ = rank;
    }
    if (error_) cancelled_ = true;
    ended_.notify_one();
  }

  // Until all have ended.
  void wait(const model::LoadProgress& progress) {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kProgressInterval, [&] { return num_ended_ == done_.size(); })) {
      lock.unlock();
      if (progress && all_have_begun() && !progress(sum(done_), sum(total_))) cancelled_ = true;
      lock.lock();
    }
  }

  const std::optional<Error>& error() const { return error_; }
  size_t failed_rank() const { return failed_rank_; }

 private:
  using Bytes = std::vector<std::atomic<size_t>>;
  static size_t sum(const Bytes& bytes) {
    size_t total = 0;
    for (const auto& of_rank : bytes) total += of_rank;
    return total;
  }
  bool all_have_begun() const {
    return std::ranges::all_of(total_, [](const auto& total) { return total > 0; });
  }

  Bytes done_;
  Bytes total_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t num_ended_ = 0;
  std::optional<Error> error_;
  size_t failed_rank_ = 0;
};

Status load_part(const model::Part& part, RankSeat& seat, const model::LoadProgress& progress) {
  ASSIGN_OR_RETURN(seat.model, model::load_model(*seat.file, part, *seat.device, progress));
  return {};
}

Status load_side_by_side(const std::vector<model::Part>& parts, std::vector<RankSeat>& seats,
                         const model::LoadProgress& progress) {
  Loading loading(seats.size());
  std::mutex turns;  // in which ranks load from a file that is read by one thread at a time
  {
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < seats.size(); ++rank) {
      threads.emplace_back([&, rank] {
        RankSeat& seat = seats[rank];
        Status status = seat.device->bind_thread();
        if (status) {
          const auto lock =
              seat.file->is_assembled() ? std::unique_lock(turns) : std::unique_lock<std::mutex>();
          status = load_part(parts[rank], seat, [&](size_t done, size_t total) {
            return loading.progress(rank, done, total);
          });
        }
        loading.end(rank, std::move(status));
      });
    }
    loading.wait(progress);
  }
  if (!loading.error()) return {};
  Error error = *loading.error();
  const size_t rank = loading.failed_rank();
  if (error.code == Code::cancelled) return error;
  error.where = rank_name(rank, seats[rank].device_name) + ", " + error.where;
  return error;
}

}  // namespace

Result<RankSeats> load_ranks(const std::shared_ptr<const gguf::File>& file, const RankPlan& plan,
                             const LoadRanksOptions& options, const model::LoadProgress& progress) {
  ASSIGN_OR_RETURN(const auto parts, model::cut_model(*file, plan.layout));
  RankSeats seats{.layout = plan.layout, .seats = {}};
  for (const std::string& name : plan.devices) {
    ASSIGN_OR_RETURN(auto device, device::create_device(name, options.num_threads));
    seats.seats.push_back({.device_name = name,
                           .num_threads = options.num_threads,
                           .file = file,
                           .device = std::move(device),
                           .model = nullptr,
                           .times = options.timing ? std::make_shared<WorkTimes>() : nullptr});
  }
  if (parts.size() == 1) {
    RETURN_IF_ERROR(load_part(parts[0], seats.seats[0], progress));
  } else {
    RETURN_IF_ERROR(load_side_by_side(parts, seats.seats, progress));
  }
  return seats;
}

Status check_fault(const ParallelOptions& options, size_t num_ranks) {
  const auto& fault = options.fault;
  if (!fault || (num_ranks > 1 && fault->rank < num_ranks)) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "plan a fault",
               .where = fmt::format("rank {}", fault->rank),
               .why = num_ranks == 1 ? "one rank on its own makes no calls to others"
                                     : fmt::format("there are {} ranks, from 0 on", num_ranks),
               .remedy = {}};
}

Result<std::unique_ptr<Ranks>> make_ranks(RankSeats seats, const MakeRanksOptions& options) {
  const size_t num_ranks = seats.seats.size();
  const auto& fault = options.parallel.fault;
  RETURN_IF_ERROR(check_fault(options.parallel, num_ranks));
  if (num_ranks == 1) {
    return SoloRanks::create(std::move(seats), {.memory = options.memory,
                                                .max_restarts = options.parallel.max_restarts});
  }
  return ManyRanks::create(std::move(seats),
                           {.team = {.memory = options.memory,
                                     .deadline = options.parallel.rank_deadline,
                                     .peer = options.parallel.peer},
                            .max_restarts = options.parallel.max_restarts,
                            .fault = fault,
                            .fallback = options.parallel.fallback ? options.fallback : nullptr});
}

}  // namespace evener::engine
