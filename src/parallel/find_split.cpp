// Every split of the layers over every order of the devices, without trying them one by one: which
// devices are used up and how many layers are placed is all that the rest depends on.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/assert.h"
#include "parallel/stage_cost.h"

namespace evener::parallel {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// A split must be better by more than rounding to replace one that was found before.
constexpr double kBetter = 1 - 1e-9;

// The best way to place the first layers on some devices.
struct Placed {
  double slowest = kImpossible;
  size_t layers_before = 0;  // where the last of its stages begins
  size_t team = 0;           // that has this stage
};

class Search {
 public:
  explicit Search(const SplitTask& task)
      : task_(task),
        num_layers_(task.layers->num_layers()),
        num_devices_(task.devices->size()),
        num_shards_(task.shares.size()) {
    list_teams();
  }

  std::optional<Split> run() {
    // With the order kept, a set is the number of stages placed; else a set of devices.
    const size_t num_sets = task_.keep_order ? teams_.size() + 1 : size_t{1} << num_devices_;
    best_.assign(num_sets, std::vector<Placed>(num_layers_ + 1));
    best_[0][0].slowest = 0;
    for (size_t set = 0; set + 1 < num_sets; ++set) {
      for (size_t team = 0; team < teams_.size(); ++team) {
        if (can_follow(set, team)) extend(set, team);
      }
    }
    if (best_.back()[num_layers_].slowest == kImpossible) return {};
    return read_split();
  }

 private:
  // Who may have a stage together: the devices of its shards, in their order.
  struct Team {
    std::vector<size_t> devices;
    uint64_t members = 0;
  };

  void list_teams() {
    if (task_.keep_order) {
      for (size_t first = 0; first < num_devices_; first += num_shards_) add_team(first);
      return;
    }
    for (uint64_t members = 1; members < uint64_t{1} << num_devices_; ++members) {
      if (size_t(std::popcount(members)) != num_shards_) continue;
      Team team{.devices = {}, .members = members};
      for (size_t i = 0; i < num_devices_; ++i) {
        if ((members >> i & 1) != 0) team.devices.push_back(i);
      }
      teams_.push_back(std::move(team));
    }
  }

  void add_team(size_t first) {
    Team& team = teams_.emplace_back();
    for (size_t i = first; i < first + num_shards_; ++i) team.devices.push_back(i);
  }

  bool can_follow(size_t set, size_t team) const {
    return task_.keep_order ? team == set : (set & teams_[team].members) == 0;
  }
  size_t set_with(size_t set, size_t team) const {
    return task_.keep_order ? set + 1 : set | teams_[team].members;
  }
  size_t set_without(size_t set, size_t team) const {
    return task_.keep_order ? set - 1 : set & ~teams_[team].members;
  }

  // Lets the team have the layers behind those that `set` has.
  void extend(size_t set, size_t team) {
    const size_t next = set_with(set, team);
    const bool is_last = next + 1 == best_.size();
    for (size_t begin = 0; begin < num_layers_; ++begin) {
      const double before = best_[set][begin].slowest;
      if (before == kImpossible) continue;
      for (size_t end = is_last ? num_layers_ : begin + 1; end <= num_layers_; ++end) {
        const double slowest = std::max(before, stage_seconds(team, begin, end));
        Placed& placed = best_[next][end];
        if (slowest == kImpossible) continue;
        if (slowest < placed.slowest * kBetter) placed = {slowest, begin, team};
      }
    }
  }

  // Impossible if the stage does not fit.
  double stage_seconds(size_t team, size_t begin, size_t end) const {
    const PartCost part = task_.layers->of(begin, end);
    double seconds = 0;
    for (size_t shard = 0; shard < num_shards_; ++shard) {
      const size_t device = teams_[team].devices[shard];
      const double share = task_.shares[shard];
      if (needed_bytes(part, share, task_.layers->scratch_bytes()) > task_.limits[device]) {
        return kImpossible;
      }
      seconds = std::max(seconds, seconds_of(part, share, (*task_.devices)[device]));
    }
    return seconds;
  }

  // From the last stage to the first.
  Split read_split() const {
    Split split;
    size_t set = best_.size() - 1;
    size_t end = num_layers_;
    while (set != 0) {
      const Placed& placed = best_[set][end];
      const std::vector<size_t>& devices = teams_[placed.team].devices;
      split.device_of_rank.insert(split.device_of_rank.begin(), devices.begin(), devices.end());
      end = placed.layers_before;
      if (end > 0) split.borders.insert(split.borders.begin(), end);
      set = set_without(set, placed.team);
    }
    return split;
  }

  const SplitTask& task_;
  size_t num_layers_;
  size_t num_devices_;
  size_t num_shards_;
  std::vector<Team> teams_;
  std::vector<std::vector<Placed>> best_;  // [sets][layers placed]
};

}  // namespace

std::optional<Split> find_split(const SplitTask& task) {
  EVENER_ASSERT(task.keep_order || task.devices->size() <= kDevicesMaxInSearch);
  return Search(task).run();
}

}  // namespace evener::parallel
