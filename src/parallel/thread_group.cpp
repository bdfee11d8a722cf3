#include "parallel/thread_group.h"

#include <utility>

namespace evener::parallel {

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadGrid> group_grid, std::vector<size_t> group_members)
    : grid(std::move(group_grid)),
      members(std::move(group_members)),
      seats(members.size()),
      slots(members.size()),
      mailboxes(members.size() * members.size()) {
  const size_t count = grid->options().piece_bytes / sizeof(float);
  for (auto& pair : slots) {
    // Left untouched: memory comes from the node of the rank that fills it.
    for (auto& slot : pair) slot = std::make_unique_for_overwrite<float[]>(count);
  }
}

}  // namespace evener::parallel
