#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sched/virtual_time.h"

namespace evener::simulate {

// What has to hold, named as in reference/serving/scheduler.md 8. S: safety, L: liveness and
// bounds, E: economy.
enum class Invariant {
  S1,
  S2,
  S3,
  S4,
  S5,
  S6,
  S7,
  S8,  //
  L1,
  L2,
  L3,
  L4,
  L5,
  L6,
  L7,
  L8,
  L9,  //
  E1,
  E2,
  E3,
  E4,
  E5,
};
inline constexpr size_t kNumInvariants = 22;

struct InvariantText {
  const char* name;
  const char* promise;
};
extern const std::array<InvariantText, kNumInvariants> kInvariants;

inline const InvariantText& text_of(Invariant invariant) {
  return kInvariants[static_cast<size_t>(invariant)];
}

struct Breach {
  Invariant invariant = Invariant::S1;
  std::string what;
  sched::Time at{};
};

// Counts what was checked and keeps the first breach: what comes after it may only follow from it.
class Verdict {
 public:
  // `what()` is the text of a breach, made only if there is one.
  template <class What>
  void expect(Invariant invariant, bool holds, const What& what) {
    ++num_checks_[static_cast<size_t>(invariant)];
    if (!holds && !breach_) breach_ = Breach{.invariant = invariant, .what = what(), .at = now_};
  }

  void set_time(sched::Time now) { now_ = now; }
  void add(const Verdict& other);

  const std::optional<Breach>& breach() const { return breach_; }
  uint64_t num_checks(Invariant invariant) const {
    return num_checks_[static_cast<size_t>(invariant)];
  }

 private:
  std::array<uint64_t, kNumInvariants> num_checks_{};
  std::optional<Breach> breach_;
  sched::Time now_{};
};

// "S7: a recurrent state is that of its tokens: sequence 4 at position 128, at 1.234 s".
std::string to_string(const Breach& breach);

}  // namespace evener::simulate
