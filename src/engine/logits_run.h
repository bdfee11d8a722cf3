#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/choose_link.h"
#include "device/device.h"
#include "engine/layout_plan.h"
#include "engine/rank_seat.h"
#include "engine/ranks.h"
#include "engine/work_report.h"
#include "gguf/file.h"
#include "model/loader.h"
#include "model/model.h"

namespace evener::engine {

struct LogitsRunOptions {
  device::KvType kv_type = device::KvType::f16;
  size_t chunk = 512;         // tokens a pass
  size_t num_tokens_max = 0;  // of all feeds since the start, or the last restart(), together
  size_t num_threads = 0;     // of each device, as device::create_device() takes it
  bool timing = false;        // for report()
  device::PeerUse peer = device::PeerUse::automatic;  // as ParallelOptions says
};

// One sequence through a model without the step loop, every token's logits handed out: the door for
// checking numbers from outside, and for measures over whole texts. One thread.
class LogitsRun {
 public:
  // Loads the file's model over the ranks of the plan. Errors: as load_ranks and make_ranks.
  static Result<LogitsRun> create(std::shared_ptr<const gguf::File> file, const RankPlan& plan,
                                  const LogitsRunOptions& options,
                                  const model::LoadProgress& progress = {});

  // Loads the whole model onto one device; it and the file outlive the run. Errors: as
  // model::load_model.
  static Result<LogitsRun> create(const gguf::File& file, device::Device& device,
                                  const LogitsRunOptions& options,
                                  const model::LoadProgress& progress = {});

  // Called with the index of the token within its feed and the logits [vocab_size] that follow it.
  using Row = std::function<void(size_t index, std::span<const float> logits)>;

  // Reads tokens behind those of earlier feeds; `row` gets the logits behind those from
  // `first_row` on. Errors: invalid_argument (an id outside the vocabulary, more than
  // num_tokens_max); unavailable (a rank has failed: the run is of no more use).
  Result<void> feed(std::span<const int32_t> tokens, const Row& row, size_t first_row = 0);

  // Forgets what was read: the next feed begins a sequence.
  void restart();

  const model::Config& config() const { return config_; }  // of the whole model

  // How often each expert has been chosen: [layers][experts]; empty in models without.
  std::vector<std::vector<uint64_t>> expert_uses() const { return ranks_->expert_uses(); }

  // What the time since the last restart_times() went into, if LogitsRunOptions::timing asked.
  void restart_times();
  WorkReport report();

 private:
  // A chunk whose pass has begun.
  struct Chunk {
    size_t first_token = 0;  // within the feed
    size_t num_tokens = 0;
    size_t num_skipped = 0;  // of its tokens, without logits
  };

  static Result<LogitsRun> create(RankSeats seats, const LogitsRunOptions& options);
  LogitsRun(const LogitsRunOptions& options, model::Config config, std::vector<RankTimes> times,
            std::unique_ptr<Ranks> ranks);
  Status check(std::span<const int32_t> tokens) const;
  void begin(std::span<const int32_t> tokens, size_t first_row);
  Status end(const Chunk& chunk, const Row& row);

  LogitsRunOptions options_;
  model::Config config_;
  std::vector<RankTimes> times_;  // of each rank; empty if nobody asked
  std::unique_ptr<Ranks> ranks_;
  std::vector<int32_t> pages_;
  size_t position_ = 0;
};

}  // namespace evener::engine
