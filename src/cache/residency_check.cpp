// Counting everything again.
#include "base/assert.h"
#include "cache/residency.h"

namespace evener::cache {

void Residency::check() const {
  tree_.check(has_states());
  check_owners();
  check_users();
}

// Every page and slot that is out has one owner, and there are no owners of others.
void Residency::check_owners() const {
  std::vector<bool> page_owned(pages_.size(), false);
  std::vector<bool> slot_owned(slots_.size(), false);
  size_t num_pages = 0;
  size_t num_slots = 0;
  const auto own = [](std::vector<bool>& owned, int32_t number, size_t& count) {
    EVENER_ASSERT(!owned.at(static_cast<size_t>(number)));
    owned[static_cast<size_t>(number)] = true;
    ++count;
  };
  for (int32_t page = 0; static_cast<size_t>(page) < pages_.size(); ++page) {
    if (!tree_.contains(page)) continue;
    own(page_owned, page, num_pages);
    if (tree_.snapshot(page) != PrefixTree::kNone) own(slot_owned, tree_.snapshot(page), num_slots);
  }
  for (const auto& [id, sequence] : residents_) {
    for (size_t i = sequence.num_shared; i < sequence.pages.size(); ++i) {
      own(page_owned, sequence.pages[i], num_pages);
    }
    if (has_states()) own(slot_owned, sequence.slot, num_slots);
  }
  EVENER_ASSERT(num_pages == pages_.num_taken());
  EVENER_ASSERT(num_slots == slots_.num_taken());
}

// A node's users are the sequences that have its page, and they have all pages above it as well;
// the sessions that end at a node are those that were remembered.
void Residency::check_users() const {
  std::unordered_map<int32_t, size_t> num_users;
  for (const auto& [id, sequence] : residents_) {
    EVENER_ASSERT(sequence.num_shared * page_size_ <= sequence.num_computed);
    for (size_t i = 0; i < sequence.num_shared; ++i) {
      const int32_t node = sequence.pages[i];
      ++num_users[node];
      EVENER_ASSERT(tree_.contains(node));
      EVENER_ASSERT(tree_.level(node) == i + 1);
      EVENER_ASSERT(tree_.parent(node) == above(sequence, i).node);
    }
  }
  for (int32_t page = 0; static_cast<size_t>(page) < pages_.size(); ++page) {
    if (tree_.contains(page)) EVENER_ASSERT(tree_.num_users(page) == num_users[page]);
  }
  size_t num_ends = 0;
  for (const auto& session : sessions_.all()) {
    EVENER_ASSERT(tree_.contains(session.end));
    EVENER_ASSERT(tree_.ends_session(session.end));
    EVENER_ASSERT(!has_states() || tree_.snapshot(session.end) != PrefixTree::kNone);
    ++num_ends;
  }
  EVENER_ASSERT(num_ends == sessions_.size());
}

}  // namespace evener::cache
