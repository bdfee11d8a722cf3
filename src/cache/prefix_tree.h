#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "cache/entry_key.h"
#include "cache/ids.h"
#include "cache/recency_list.h"

namespace evener::cache {

// Which tokens each shared page of the KV cache holds, after which others. A node is a page, and is
// named by the page's number; its path from the root is a prefix that was read. Beside it there may
// be a snapshot of the recurrent state at the page's end.
//
// A node is
//   - used by a number of sequences; what a node is used by uses its parent too,
//   - kept for a number of sessions, whose newest turn lies on its path; likewise.
// Nodes neither used nor kept stand in an order of eviction, in which a child comes before its
// parent, so that the first of them is always a leaf. Snapshots have an order of their own: those
// at the very end of a session's newest turn do not stand in it, the others do, used or not.
//
// Children are sorted by their tokens: a child is found by binary search and compared in full, and
// its neighbours tell how far anybody agrees. Salts have roots of their own.
//
// It owns no page and no slot: whoever takes a node or a snapshot out gives the number back to its
// pool. One thread. Calls that break these rules are our own bug and abort.
class PrefixTree {
 public:
  static constexpr int32_t kNone = -1;

  // Where a page is hung in: below a node, or below the root of a salt.
  struct Above {
    int32_t node = kNone;
    uint64_t salt = 0;
  };

  PrefixTree(size_t num_pages, size_t page_size);

  // `tokens` are page_size long. kNone: no such child.
  int32_t find_child(Above above, std::span<const TokenId> tokens) const;
  // How many of `tokens`, page_size of them or fewer, some child begins with.
  size_t agreement(Above above, std::span<const TokenId> tokens) const;

  // A child that is not there yet, used by the one sequence that uses `above`.
  void insert(int32_t page, Above above, std::span<const TokenId> tokens);
  // Takes out a leaf that nobody uses and that is not kept, and that has no snapshot.
  void remove(int32_t page);

  // From the root towards the leaf, and back from the leaf towards the root.
  void use(int32_t page);
  void unuse(int32_t page);

  // Keeps the path to `end` for one session more, or for one less.
  void keep(int32_t end);
  void unkeep(int32_t end);

  void set_snapshot(int32_t page, int32_t slot);
  int32_t take_snapshot(int32_t page);  // returns its slot
  void touch_snapshot(int32_t page);    // somebody went on from it

  bool contains(int32_t page) const { return at(page).level > 0; }
  size_t level(int32_t node) const { return at(node).level; }  // pages on its path
  const EntryKey& key(int32_t node) const { return at(node).key; }
  int32_t parent(int32_t node) const { return at(node).above.node; }
  int32_t snapshot(int32_t node) const { return at(node).slot; }  // kNone: none
  bool is_leaf(int32_t node) const { return at(node).children.empty(); }
  size_t num_users(int32_t node) const { return at(node).num_users; }
  bool is_kept(int32_t node) const { return at(node).num_sessions > 0; }
  bool ends_session(int32_t node) const { return at(node).num_ends > 0; }

  int32_t first_to_evict() const { return evictable_.oldest(); }
  // Of the snapshots that went longest without being of use, the one that saves the fewest tokens.
  int32_t snapshot_to_evict() const;

  size_t num_nodes() const { return num_nodes_; }
  size_t num_unused() const { return num_unused_; }  // kept ones among them
  size_t num_kept() const { return num_kept_; }
  size_t num_snapshots() const { return num_snapshots_; }
  size_t num_snapshots_kept() const { return num_snapshots_ - evictable_snapshots_.size(); }

  // Counts everything again and aborts if a rule above is broken. `leaves_need_snapshots`: of the
  // leaves that nobody uses.
  void check(bool leaves_need_snapshots) const;

 private:
  struct Node {
    Above above = {};
    size_t level = 0;  // 0: this page is not in the tree
    EntryKey key = {};
    int32_t slot = kNone;
    size_t num_users = 0;
    size_t num_sessions = 0;  // whose newest turn's path this is on
    size_t num_ends = 0;      // whose newest turn ends here
    std::vector<int32_t> children = {};
  };

  const Node& at(int32_t page) const { return nodes_[static_cast<size_t>(page)]; }
  Node& at(int32_t page) { return nodes_[static_cast<size_t>(page)]; }
  std::span<const TokenId> tokens_of(int32_t page) const;
  const std::vector<int32_t>& children(Above above) const;
  size_t place_of(const std::vector<int32_t>& children, std::span<const TokenId> tokens) const;
  size_t tokens_saved(int32_t node) const;
  void list_if_evictable(int32_t page);
  void list_snapshot_if_evictable(int32_t page);
  void check_node(int32_t page) const;
  void check_order() const;
  void check_counts() const;

  size_t page_size_;
  std::vector<Node> nodes_;                         // by page
  std::vector<TokenId> tokens_;                     // [num_pages, page_size]
  std::map<uint64_t, std::vector<int32_t>> roots_;  // by salt; none is empty
  RecencyList evictable_;
  RecencyList evictable_snapshots_;
  size_t num_nodes_ = 0;
  size_t num_unused_ = 0;
  size_t num_kept_ = 0;
  size_t num_snapshots_ = 0;
};

}  // namespace evener::cache
