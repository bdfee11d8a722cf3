#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "parallel/call.h"

namespace evener::parallel {

// What ranks are called in messages: "rank 1 (cpu:1)".
class RankNames {
 public:
  // Without names, or for ranks without one, the number alone.
  RankNames(size_t num_ranks, std::vector<std::string> names);
  const std::string& operator[](size_t rank) const { return names_[rank]; }
  size_t size() const { return names_.size(); }
  std::string list(std::span<const size_t> ranks) const;  // "rank 0 and rank 1"

 private:
  std::vector<std::string> names_;
};

// What breaks a grid of ranks; code unavailable all of them.

// `rank` waits for `peer`, which has shown no sign of life.
struct LateRank {
  size_t rank = 0;
  size_t peer = 0;
  Call call;          // that it was waited for in
  uint64_t pass = 0;  // 0: not known
  std::chrono::nanoseconds silent_for{};
};
Error late_rank(const RankNames& names, const LateRank& late);

Error ended_rank(const RankNames& names, size_t rank);

// Nothing is heard of its process.
Error lost_process(const RankNames& names, size_t rank, std::chrono::nanoseconds silent_for);

// Nobody waits for it in a call, but for what it was asked to do.
Error silent_rank(const RankNames& names, size_t rank, std::chrono::nanoseconds silent_for);

// They wait for each other.
Error stuck_circle(const RankNames& names, std::span<const size_t> ranks, const Call& call);

// Values that must be the same on all ranks are not, on these.
Error different_values(const RankNames& names, std::span<const size_t> ranks, const Call& call);

// Two ranks make calls that do not go together.
struct CallOfRank {
  size_t rank = 0;
  std::string what;  // "an all-reduce of [4, 1024]"
};
Error out_of_step(const RankNames& names, const CallOfRank& one, const CallOfRank& other);

// A rank's device is lost, by what the device says of it.
Error failed_device(Error error);

// What went wrong on the rank itself, for the others: names it, unless a rank is named already.
Error error_of_rank(const RankNames& names, size_t rank, Error error);

// Whom such an error names, and one word for what they did, for those who count: "ended", "late",
// "differs", "device" or "other".
struct FailedRanks {
  std::vector<size_t> ranks;
  std::string_view how;
};
FailedRanks failed_ranks(const RankNames& names, const Error& error);

}  // namespace evener::parallel
