#include "cache/prefix_tree.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::cache {
namespace {

// Choosing a snapshot looks at so many of the oldest, and counts so many pages at most for each.
constexpr size_t kSnapshotsCompared = 8;
constexpr size_t kPagesCounted = 64;

size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const size_t count = std::min(a.size(), b.size());
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(count);
  return static_cast<size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace

PrefixTree::PrefixTree(size_t num_pages, size_t page_size)
    : page_size_(page_size),
      nodes_(num_pages),
      tokens_(num_pages * page_size),
      evictable_(num_pages),
      evictable_snapshots_(num_pages) {
  EVENER_ASSERT(page_size > 0);
}

std::span<const TokenId> PrefixTree::tokens_of(int32_t page) const {
  return std::span(tokens_).subspan(static_cast<size_t>(page) * page_size_, page_size_);
}

const std::vector<int32_t>& PrefixTree::children(Above above) const {
  static const std::vector<int32_t> no_children;
  if (above.node != kNone) return at(above.node).children;
  const auto root = roots_.find(above.salt);
  return root == roots_.end() ? no_children : root->second;
}

// The first child whose tokens do not come before `tokens`.
size_t PrefixTree::place_of(const std::vector<int32_t>& children,
                            std::span<const TokenId> tokens) const {
  const auto comes_before = [&](int32_t child, std::span<const TokenId> wanted) {
    return std::ranges::lexicographical_compare(tokens_of(child), wanted);
  };
  const auto it = std::lower_bound(children.begin(), children.end(), tokens, comes_before);
  return static_cast<size_t>(it - children.begin());
}

int32_t PrefixTree::find_child(Above above, std::span<const TokenId> tokens) const {
  EVENER_ASSERT(tokens.size() == page_size_);
  const auto& siblings = children(above);
  const size_t place = place_of(siblings, tokens);
  if (place == siblings.size()) return kNone;
  return std::ranges::equal(tokens_of(siblings[place]), tokens) ? siblings[place] : kNone;
}

// In sorted order nobody agrees longer than one of the two neighbours.
size_t PrefixTree::agreement(Above above, std::span<const TokenId> tokens) const {
  const auto& siblings = children(above);
  const size_t place = place_of(siblings, tokens);
  size_t longest = 0;
  if (place < siblings.size()) longest = common_prefix(tokens_of(siblings[place]), tokens);
  if (place > 0) longest = std::max(longest, common_prefix(tokens_of(siblings[place - 1]), tokens));
  return longest;
}

void PrefixTree::insert(int32_t page, Above above, std::span<const TokenId> tokens) {
  EVENER_ASSERT(!contains(page));
  EVENER_ASSERT(tokens.size() == page_size_);
  EVENER_ASSERT(above.node == kNone || num_users(above.node) > 0);
  std::ranges::copy(tokens, tokens_.begin() + static_cast<std::ptrdiff_t>(
                                                  static_cast<size_t>(page) * page_size_));
  Node& node = at(page);
  node.above = above;
  node.level = above.node == kNone ? 1 : level(above.node) + 1;
  node.key = page_key(above.node == kNone ? root_key(above.salt) : key(above.node), tokens);
  node.num_users = 1;
  auto& siblings = above.node == kNone ? roots_[above.salt] : at(above.node).children;
  siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(place_of(siblings, tokens)), page);
  ++num_nodes_;
}

void PrefixTree::remove(int32_t page) {
  Node& node = at(page);
  EVENER_ASSERT(node.children.empty());
  EVENER_ASSERT(node.num_users == 0);
  EVENER_ASSERT(node.num_sessions == 0);
  EVENER_ASSERT(node.slot == kNone);
  evictable_.remove(page);
  const Above above = node.above;
  auto& siblings = above.node == kNone ? roots_.at(above.salt) : at(above.node).children;
  siblings.erase(siblings.begin() +
                 static_cast<std::ptrdiff_t>(place_of(siblings, tokens_of(page))));
  if (above.node == kNone && siblings.empty()) roots_.erase(above.salt);
  node.level = 0;
  --num_nodes_;
  --num_unused_;
}

void PrefixTree::use(int32_t page) {
  Node& node = at(page);
  if (node.num_users++ > 0) return;
  --num_unused_;
  if (evictable_.contains(page)) evictable_.remove(page);
}

void PrefixTree::unuse(int32_t page) {
  Node& node = at(page);
  EVENER_ASSERT(node.num_users > 0);
  if (--node.num_users > 0) return;
  ++num_unused_;
  list_if_evictable(page);
}

void PrefixTree::keep(int32_t end) {
  for (int32_t page = end; page != kNone; page = parent(page)) {
    if (at(page).num_sessions++ > 0) continue;
    ++num_kept_;
    if (evictable_.contains(page)) evictable_.remove(page);
  }
  ++at(end).num_ends;
  if (evictable_snapshots_.contains(end)) evictable_snapshots_.remove(end);
}

void PrefixTree::unkeep(int32_t end) {
  EVENER_ASSERT(ends_session(end));
  --at(end).num_ends;
  list_snapshot_if_evictable(end);
  for (int32_t page = end; page != kNone; page = parent(page)) {
    if (--at(page).num_sessions > 0) continue;
    --num_kept_;
    list_if_evictable(page);
  }
}

void PrefixTree::list_if_evictable(int32_t page) {
  if (num_users(page) == 0 && !is_kept(page)) evictable_.push_newest(page);
}

void PrefixTree::list_snapshot_if_evictable(int32_t page) {
  if (snapshot(page) != kNone && !ends_session(page)) evictable_snapshots_.push_newest(page);
}

void PrefixTree::set_snapshot(int32_t page, int32_t slot) {
  EVENER_ASSERT(contains(page));
  EVENER_ASSERT(snapshot(page) == kNone);
  at(page).slot = slot;
  ++num_snapshots_;
  list_snapshot_if_evictable(page);
}

int32_t PrefixTree::take_snapshot(int32_t page) {
  EVENER_ASSERT(snapshot(page) != kNone);
  EVENER_ASSERT(!ends_session(page));
  evictable_snapshots_.remove(page);
  --num_snapshots_;
  return std::exchange(at(page).slot, kNone);
}

void PrefixTree::touch_snapshot(int32_t page) {
  EVENER_ASSERT(snapshot(page) != kNone);
  if (ends_session(page)) return;
  evictable_snapshots_.remove(page);
  evictable_snapshots_.push_newest(page);
}

// How many tokens more would have to be read again, were its snapshot gone.
size_t PrefixTree::tokens_saved(int32_t node) const {
  size_t num_pages = 1;
  for (int32_t page = parent(node); page != kNone && snapshot(page) == kNone; page = parent(page)) {
    if (++num_pages == kPagesCounted) break;
  }
  return num_pages * page_size_;
}

int32_t PrefixTree::snapshot_to_evict() const {
  int32_t cheapest = evictable_snapshots_.oldest();
  if (cheapest == kNone) return kNone;
  size_t fewest = tokens_saved(cheapest);
  int32_t node = cheapest;
  for (size_t i = 1; i < kSnapshotsCompared; ++i) {
    node = evictable_snapshots_.newer_than(node);
    if (node == kNone) break;
    const size_t saved = tokens_saved(node);
    if (saved < fewest) {
      fewest = saved;
      cheapest = node;
    }
  }
  return cheapest;
}

void PrefixTree::check(bool leaves_need_snapshots) const {
  for (int32_t page = 0; static_cast<size_t>(page) < nodes_.size(); ++page) {
    if (!contains(page)) continue;
    check_node(page);
    if (leaves_need_snapshots && is_leaf(page) && num_users(page) == 0) {
      EVENER_ASSERT(snapshot(page) != kNone);
    }
  }
  check_order();
  check_counts();
}

void PrefixTree::check_node(int32_t page) const {
  const Node& node = at(page);
  const auto& siblings = children(node.above);
  EVENER_ASSERT(siblings.at(place_of(siblings, tokens_of(page))) == page);
  const EntryKey before =
      node.above.node == kNone ? root_key(node.above.salt) : key(node.above.node);
  EVENER_ASSERT(node.key == page_key(before, tokens_of(page)));
  EVENER_ASSERT(evictable_.contains(page) == (node.num_users == 0 && node.num_sessions == 0));
  EVENER_ASSERT(evictable_snapshots_.contains(page) == (node.slot != kNone && node.num_ends == 0));

  size_t num_sessions = node.num_ends;
  for (const int32_t child : node.children) {
    EVENER_ASSERT(parent(child) == page);
    EVENER_ASSERT(level(child) == node.level + 1);
    EVENER_ASSERT(num_users(child) <= node.num_users);
    num_sessions += at(child).num_sessions;
  }
  EVENER_ASSERT(node.num_sessions == num_sessions);
}

// Children come before their parents.
void PrefixTree::check_order() const {
  std::vector<bool> seen(nodes_.size(), false);
  size_t count = 0;
  for (int32_t page = evictable_.oldest(); page != kNone; page = evictable_.newer_than(page)) {
    for (const int32_t child : at(page).children) EVENER_ASSERT(seen[static_cast<size_t>(child)]);
    seen[static_cast<size_t>(page)] = true;
    ++count;
  }
  EVENER_ASSERT(count == evictable_.size());
}

void PrefixTree::check_counts() const {
  size_t num_nodes = 0;
  size_t num_unused = 0;
  size_t num_kept = 0;
  size_t num_snapshots = 0;
  for (const Node& node : nodes_) {
    if (node.level == 0) continue;
    ++num_nodes;
    num_unused += node.num_users == 0 ? 1 : 0;
    num_kept += node.num_sessions > 0 ? 1 : 0;
    num_snapshots += node.slot != kNone ? 1 : 0;
  }
  EVENER_ASSERT(num_nodes == num_nodes_);
  EVENER_ASSERT(num_unused == num_unused_);
  EVENER_ASSERT(num_kept == num_kept_);
  EVENER_ASSERT(num_snapshots == num_snapshots_);
}

}  // namespace evener::cache
