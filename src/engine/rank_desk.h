#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"

namespace evener::engine {

// Where ranks say how far they are and whoever drives them waits for it. Shared by all of them, so
// that it outlives a rank that has been given up. Any thread.
class RankDesk {
 public:
  explicit RankDesk(size_t num_ranks);

  // The rank has done all commands up to this one.
  void done(size_t rank, uint64_t number);

  // What has gone wrong; the first stays.
  void fail(Error error);
  std::optional<Error> failure() const;

  // The rank's thread touches nothing of the team any more.
  void ended(size_t rank);
  bool has_ended(size_t rank) const;

  // Waits until all ranks have done the command, or something has gone wrong, which is the error.
  // Calls `look` now and then, with the ranks that have not: it may fail().
  using Look = FunctionRef<void(const std::vector<size_t>& ranks)>;
  Status wait(uint64_t number, std::chrono::milliseconds look_interval, Look look);

  // Waits until the rank has ended, at most so long.
  bool wait_until_ended(size_t rank, std::chrono::milliseconds patience);

 private:
  bool all_have_done(uint64_t number) const;
  std::vector<size_t> late_ranks(uint64_t number) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint64_t> done_;  // the last command of each rank
  std::vector<bool> ended_;
  std::optional<Error> failure_;
  uint64_t awaited_ = 0;  // 0: nobody waits for a command
};

}  // namespace evener::engine
