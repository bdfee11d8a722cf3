#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/rank_failure.h"
#include "engine/rank_team.h"
#include "engine/ranks.h"
#include "engine/ranks_report.h"
#include "engine/restart_policy.h"

namespace evener::engine {

// Ranks that work side by side, each on its device, stages on different passes at a time.
//
// After a failure they are made anew out of the weights that are there (on a device anew, and with
// its weights, where one was lost), sooner at first and then later; when that has been done too
// often, without the devices of the ranks that failed, if there is another layout.
class ManyRanks final : public Ranks {
 public:
  // A layout without these devices, its parts loaded. Errors: whatever keeps it from running.
  using Fallback = std::function<Result<RankSeats>(const std::vector<std::string>& lost_devices)>;

  struct Options {
    RankTeam::Options team;
    size_t max_restarts = 3;                        // in an hour
    std::optional<parallel::FaultPlan> fault = {};  // on purpose: docs/parallel.md
    Fallback fallback = {};                         // empty: there is none
    // How the first team is made, for ranks in several processes: those cannot be made anew.
    std::function<Result<std::unique_ptr<RankTeam>>(const RankSeats&, const RankTeam::Options&)>
        start = {};
  };

  // Errors: as RankTeam::start.
  static Result<std::unique_ptr<ManyRanks>> create(RankSeats seats, Options options);

  ~ManyRanks() override;

  size_t depth() const override { return depth_; }
  void begin(const RankPass& pass) override;
  Result<const PassResult*> end() override;

  void clear_state(int32_t slot) override;
  void copy_state(int32_t from, int32_t to) override;
  size_t page_bytes() const override { return page_bytes_; }
  size_t state_bytes() const override { return state_bytes_; }
  void write_page(int32_t page, std::span<const std::byte> bytes) override;
  void write_state(int32_t slot, std::span<const std::byte> bytes) override;
  Status read_page(int32_t page, std::span<std::byte> bytes) override;
  Status read_state(int32_t slot, std::span<std::byte> bytes) override;
  std::vector<std::vector<uint64_t>> expert_uses() override;
  void reset_expert_uses() override;

  Result<Restart> restart() override;
  void interrupt() override;
  RanksReport report() const override;

 private:
  struct InFlight {
    std::shared_ptr<StoredPass> pass;
    uint64_t number = 0;  // of its command
  };

  ManyRanks(RankSeats seats, Options options);
  Status start_team();
  void note_layout();
  std::shared_ptr<StoredPass> free_pass();
  void write(RankCommand command, std::span<const std::byte> bytes);
  Status read(RankCommand command, std::span<std::byte> bytes);
  Status wait(uint64_t number);
  void note_failure(const Error& error);

  void leave_team();
  Status start_anew();
  Status fall_back();
  Error go_down(const Error& why);
  bool is_made_once() const { return options_.start && !has_fallen_back_; }

  // Used by the driver's thread alone.
  const Options options_;
  RankSeats seats_;
  RestartPolicy policy_;
  const std::shared_ptr<parallel::HangGate> gate_ = std::make_shared<parallel::HangGate>();
  size_t num_lives_ = 0;  // teams so far
  size_t depth_;
  size_t page_bytes_ = 0;
  size_t state_bytes_ = 0;
  std::deque<InFlight> in_flight_;
  std::vector<std::shared_ptr<StoredPass>> passes_;  // of this team; those not in flight are free
  std::shared_ptr<StoredPass> ended_;                // whose result is valid
  uint64_t num_passes_ = 0;
  std::optional<Error> failure_;  // until the restart
  std::set<size_t> given_up_;     // ranks that do not end, on devices that others cannot have
  struct Loss {
    size_t rank = 0;
    std::string device;
    RestartPolicy::Duration at;  // since start_
  };
  std::vector<Loss> losses_;               // of the last hour and more
  std::vector<std::string> lost_devices_;  // that a layout does without
  bool has_fallen_back_ = false;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  RestartWait wait_;

  mutable std::mutex mutex_;
  RanksReport report_;              // without the ranks' silences
  std::unique_ptr<RankTeam> team_;  // written by the driver's thread, under the lock; null while
                                    // there is none
};

}  // namespace evener::engine
