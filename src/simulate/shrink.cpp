#include "simulate/shrink.h"

#include <algorithm>
#include <utility>

namespace evener::simulate {
namespace {

class Shrinker {
 public:
  Shrinker(const Workload& failing, Invariant invariant, size_t num_runs_max)
      : smallest_(failing), invariant_(invariant), num_runs_left_(num_runs_max) {}

  Workload run() {
    bool got_smaller = true;
    while (got_smaller && num_runs_left_ > 0) {
      got_smaller = drop_requests();
      got_smaller |= shorten_requests();
      got_smaller |= drop_faults();
      got_smaller |= drop_stage();
    }
    return std::move(smallest_);
  }

 private:
  // Keeps the candidate if it still fails in the same way.
  bool accept(Workload candidate) {
    if (num_runs_left_ == 0) return false;
    --num_runs_left_;
    const auto breach = simulate(candidate).verdict.breach();
    if (!breach || breach->invariant != invariant_) return false;
    smallest_ = std::move(candidate);
    return true;
  }

  // Those that follow a dropped one begin where it would have begun.
  static Workload without(const Workload& workload, size_t index) {
    Workload result = workload;
    const Request dropped = workload.requests[index];
    result.requests.erase(result.requests.begin() + static_cast<std::ptrdiff_t>(index));
    for (Request& request : result.requests) {
      if (request.follows == index + 1) {
        request.follows = dropped.follows;
        request.arrives += dropped.arrives;
      }
      if (request.follows > index + 1) --request.follows;
    }
    return result;
  }

  bool drop_requests() {
    bool got_smaller = false;
    for (size_t i = smallest_.requests.size(); i > 0 && smallest_.requests.size() > 1; --i) {
      got_smaller |= accept(without(smallest_, i - 1));
    }
    return got_smaller;
  }

  bool change(size_t index, void (*smaller)(Request&)) {
    Workload candidate = smallest_;
    smaller(candidate.requests[index]);
    return accept(std::move(candidate));
  }

  bool shorten_requests() {
    bool got_smaller = false;
    for (size_t i = 0; i < smallest_.requests.size(); ++i) {
      if (smallest_.requests[i].prompt.size() > 1) {
        got_smaller |= change(i, [](Request& r) {
          r.prompt.resize((r.prompt.size() + 1) / 2);
          std::erase_if(r.message_ends, [&r](size_t end) { return end > r.prompt.size(); });
        });
      }
      if (smallest_.requests[i].num_new_tokens_max > 1) {
        got_smaller |= change(i, [](Request& r) { r.num_new_tokens_max /= 2; });
      }
      if (smallest_.requests[i].cancelled_after) {
        got_smaller |= change(i, [](Request& r) { r.cancelled_after.reset(); });
      }
    }
    return got_smaller;
  }

  bool drop_faults() {
    Workload candidate = smallest_;
    candidate.faults = {};
    candidate.table.noise = 0;
    candidate.table.slow_steps = 0;
    candidate.stored_damage = 0;
    const bool has_faults = smallest_.faults.failed_steps + smallest_.faults.clock_jumps +
                                smallest_.table.noise + smallest_.table.slow_steps +
                                smallest_.stored_damage >
                            0;
    return has_faults && accept(std::move(candidate));
  }

  bool drop_stage() {
    if (smallest_.stages.size() == 1) return false;
    Workload candidate = smallest_;
    candidate.set_stages(smallest_.stages.size() - 1);
    return accept(std::move(candidate));
  }

  Workload smallest_;
  Invariant invariant_;
  size_t num_runs_left_;
};

}  // namespace

Workload shrink(const Workload& failing, Invariant invariant, size_t num_runs_max) {
  return Shrinker(failing, invariant, num_runs_max).run();
}

}  // namespace evener::simulate
