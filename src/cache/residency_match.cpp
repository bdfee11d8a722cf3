// What a newcomer's tokens meet in the tree and in the tiers.
#include <algorithm>

#include "base/assert.h"
#include "cache/residency.h"

namespace evener::cache {

Match Residency::match(const Newcomer& newcomer) const { return find(newcomer).match; }

Residency::Found Residency::find(const Newcomer& newcomer) const {
  EVENER_ASSERT(!newcomer.tokens.empty());
  Found found;
  if (!reuse_) {
    found.match.end = MatchEnd::disabled;
    return found;
  }
  const size_t last_token = newcomer.tokens.size() - 1;  // which is always computed
  const size_t num_pages_max = std::min(last_token, newcomer.match_max) / page_size_;
  find_in_tree(newcomer, num_pages_max, found);
  const EntryKey last = find_in_tiers(newcomer, num_pages_max, found);
  found.num_pages_known = found.nodes.size() + found.keys_to_load.size();
  explain_end(newcomer, num_pages_max, last, found);
  if (has_states()) stop_at_state(found);

  found.match.num_tokens = (found.nodes.size() + found.keys_to_load.size()) * page_size_;
  found.match.num_pages_to_load = found.keys_to_load.size();
  for (const int32_t node : found.nodes) {
    if (tree_.num_users(node) == 0) ++found.match.num_pages_to_lock;
  }
  return found;
}

void Residency::find_in_tree(const Newcomer& newcomer, size_t num_pages_max, Found& found) const {
  PrefixTree::Above above = {.salt = newcomer.salt};
  while (found.nodes.size() < num_pages_max) {
    above.node = tree_.find_child(above, page_tokens(newcomer.tokens, found.nodes.size()));
    if (above.node == PrefixTree::kNone) return;
    found.nodes.push_back(above.node);
  }
}

// Returns the key of the last page known.
EntryKey Residency::find_in_tiers(const Newcomer& newcomer, size_t num_pages_max,
                                  Found& found) const {
  EntryKey last = found.nodes.empty() ? root_key(newcomer.salt) : tree_.key(found.nodes.back());
  if (stored_ == nullptr) return last;
  for (size_t page = found.nodes.size(); page < num_pages_max; ++page) {
    const EntryKey next = page_key(last, page_tokens(newcomer.tokens, page));
    if (!stored_->contains(next)) break;
    found.keys_to_load.push_back(next);
    last = next;
  }
  return last;
}

void Residency::explain_end(const Newcomer& newcomer, size_t num_pages_max, const EntryKey& last,
                            Found& found) const {
  Match& match = found.match;
  match.end = MatchEnd::all;
  if (found.num_pages_known == num_pages_max) return;
  const auto next = page_tokens(newcomer.tokens, found.num_pages_known);
  match.end = MatchEnd::evicted;
  if (evicted_.contains(page_key(last, next))) return;
  match.end = MatchEnd::differs;
  match.first_difference = found.num_pages_known * page_size_;
  if (!found.keys_to_load.empty()) return;  // a tier does not tell the tokens of its pages
  const int32_t node = found.nodes.empty() ? PrefixTree::kNone : found.nodes.back();
  match.first_difference += tree_.agreement({.node = node, .salt = newcomer.salt}, next);
}

// Shortens what was found to the farthest page with a state at its end, here or in a tier.
void Residency::stop_at_state(Found& found) const {
  auto& [match, nodes, keys, snapshot, state_to_load, num_pages_known] = found;
  const auto loads_state = [&](const EntryKey& page) {
    if (stored_ == nullptr || !stored_->contains(state_key(page))) return false;
    match.loads_state = true;
    state_to_load = state_key(page);
    return true;
  };
  while (!keys.empty() && !loads_state(keys.back())) keys.pop_back();
  if (keys.empty()) {
    while (!nodes.empty() && tree_.snapshot(nodes.back()) == PrefixTree::kNone &&
           !loads_state(tree_.key(nodes.back()))) {
      nodes.pop_back();
    }
    if (!nodes.empty() && !match.loads_state) snapshot = nodes.back();
  }
  if (nodes.size() + keys.size() < num_pages_known) match.end = MatchEnd::no_state;
}

}  // namespace evener::cache
