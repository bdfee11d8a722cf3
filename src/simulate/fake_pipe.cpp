#include "simulate/fake_pipe.h"

#include <algorithm>

namespace evener::simulate {

FakePipe::FakePipe(const Workload& workload)
    : workload_(workload),
      store_({.num_entries_max = workload.num_stored_max,
              .damage = workload.stored_damage,
              .seed = workload.seed}),
      device_({.page_size = workload.residency.page_size,
               .num_pages = workload.residency.num_pages,
               .num_state_slots = workload.residency.num_state_slots,
               .sabotage = workload.sabotage}),
      stage_free_(workload.stages.size()) {}

bool FakePipe::transfer(const cache::Transfer& transfer, Pass& pass) {
  if (is_empty() || workload_.sabotage == Sabotage::overtake_passes) {
    return device_.execute(transfer, store_);
  }
  StoredBytes bytes;
  if (transfer.is_load()) {
    auto found = store_.get(transfer.key);
    if (!found) return false;
    bytes = *std::move(found);
  }
  pass.writes.emplace_back(transfer, std::move(bytes));
  return true;
}

// Every stage takes its part of the time, after its part of the pass before.
void FakePipe::begin(Pass& pass, sched::Duration took, sched::Time now) {
  pass.began = now;
  pass.ends = now;
  sched::Duration left = took;
  for (size_t i = 0; i < stage_free_.size(); ++i) {
    const bool is_last = i + 1 == stage_free_.size();
    const sched::Duration part =
        is_last ? left : sched::from_seconds(sched::seconds(took) * workload_.stages[i]);
    left -= part;
    if (!is_empty()) pass.ends = std::max(pass.ends, stage_free_[i]);
    pass.ends += part;
    stage_free_[i] = pass.ends;
  }
  ++num_in_flight_;
}

void FakePipe::end(const Pass& pass) {
  for (const auto& [transfer, bytes] : pass.writes) device_.write(transfer, bytes);
  --num_in_flight_;
}

void FakePipe::lose_all() {
  num_in_flight_ = 0;
  device_.lose_all();
}

}  // namespace evener::simulate
