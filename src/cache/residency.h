#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/evicted_keys.h"
#include "cache/ids.h"
#include "cache/live_sessions.h"
#include "cache/pool.h"
#include "cache/prefix_tree.h"
#include "cache/snapshot_plan.h"
#include "cache/stored_entries.h"
#include "cache/transfer.h"

namespace evener::cache {

struct ResidencyOptions {
  size_t page_size = 64;  // positions a page; the grid of everything here
  size_t num_pages = 0;
  size_t num_state_slots = 0;       // 0 in models without recurrent layers
  size_t snapshot_interval = 1024;  // tokens between two snapshots near the end of a long prompt;
                                    // the distance doubles with every one towards its beginning
  bool reuse = true;                // false: nothing outlives its sequence
};

// A sequence that asks for a place.
struct Newcomer {
  SequenceId id = 0;  // not resident
  // The prompt, not empty; after a retraction the answer so far too.
  std::vector<TokenId> tokens = {};
  uint64_t salt = 0;     // prefixes are shared among equal salts only
  uint64_t session = 0;  // a chat that comes back with more; 0: none
  // Positions at which a chat message ends, rising, at most tokens.size(); may be empty.
  std::vector<size_t> message_ends = {};
  // A match is at most so long: for who wants to see the logits of the tokens from there on.
  size_t match_max = SIZE_MAX;
};

// Why a match is not longer.
enum class MatchEnd {
  all,       // it is as long as it may be
  differs,   // nobody has read these tokens next
  no_state,  // they have been read, but there is no snapshot of the recurrent state so far on
  evicted,   // they have been read, and made room for others since
  disabled,  // ResidencyOptions::reuse is false
};

// How much of a newcomer's tokens need not be computed.
struct Match {
  size_t num_tokens = 0;  // computed already: a multiple of the page size, less than all tokens
  size_t num_pages_to_load = 0;  // of them, from a tier
  bool loads_state = false;      // the recurrent state comes from a tier
  MatchEnd end = MatchEnd::differs;
  size_t first_difference = 0;   // where `end` is `differs`: the first token nobody has read there
  size_t num_pages_to_lock = 0;  // pages on the device that nobody uses now: num_pages_available()
                                 // counts them, and ceases to once the newcomer is admitted
};

// What happened so far (the sums) and who holds what. Of pages: private + shared + evictable + free
// = all; of slots: own + snapshots + free = all.
struct CacheStats {
  size_t num_pages = 0;
  size_t pages_private = 0;    // of one sequence, not (yet) full or not (yet) in the tree
  size_t pages_shared = 0;     // in the tree, used by one sequence or more
  size_t pages_evictable = 0;  // in the tree, used by nobody
  size_t pages_free = 0;

  size_t num_slots = 0;
  size_t slots_own = 0;       // one a sequence
  size_t slots_snapshot = 0;  // in the tree; each may make room
  size_t slots_free = 0;

  uint64_t num_lookups = 0;  // admissions
  uint64_t num_hits = 0;     // of them, with a match
  uint64_t tokens_looked_up = 0;
  uint64_t tokens_matched = 0;
  uint64_t pages_evicted = 0;
  uint64_t snapshots_taken = 0;
  uint64_t snapshots_evicted = 0;
  uint64_t pages_loaded = 0;
  uint64_t states_loaded = 0;
};

// Who holds which page of the KV cache and which slot of recurrent state: the one owner of both
// pools and of the prefix tree. It deals in numbers; the bytes move as its transfers say.
//
// What a sequence has computed goes into the tree, page by page, and stays there for whoever begins
// with the same tokens, until its place is needed. Pages in the tree are never written again. A
// recurrent state is: so each sequence has a slot of its own, and snapshots of it are copies. A
// match ends where a page ends and, in models with recurrent layers, where there is a snapshot.
//
// Snapshots (only with num_state_slots > 0) are taken at the grid point at or before
//   - the end of the first message and of the last ones,
//   - the last token of the prompt,
//   - where the tokens of a newcomer were known farther than any snapshot (the branching point),
//   - every snapshot_interval tokens of a long prompt, farther apart the farther from its end;
//     these only where a slot is to be had without taking one of a session's newest,
//   - the last grid point that an answer passed (one snapshot that moves along).
// A slot holding a snapshot is always available to a sequence that needs its own.
//
// Eviction takes whole leaves that nobody uses, and single snapshots. First those that are not on
// the newest path of a session (a session's newest end is kept as long as the sessions leave a
// quarter of the pool to others), least recently used first; among the eight oldest snapshots the
// one that saves the fewest tokens. What is evicted is offered to the tiers.
//
// The life of a sequence:
//   admit -> (cover -> take_transfers -> the device: transfers, rows -> computed -> append)* ->
//   release
//
// Errors: none. Calls that break the order above, or ids that are not resident where one is needed,
// are our own bug and abort. One thread.
//
// Source: reference/serving/scheduler.md 4. Judges: tests/cache/residency_test.cpp and
// tests/cache/residency_random_test.cpp.
class Residency {
 public:
  // `stored` may be null: no tiers. It outlives this.
  explicit Residency(const ResidencyOptions& options, const StoredEntries* stored = nullptr);

  // What admit() would find. Changes nothing. O(tokens), about 0.1 us a page.
  Match match(const Newcomer& newcomer) const;

  // Makes the newcomer resident: it uses the pages of its match, has pages for those that are to be
  // loaded, and a state slot of its own. Nothing where there is no room for that, and then nothing
  // has changed. If a load turns out to find nothing: release(), and admit again.
  std::optional<Match> admit(const Newcomer& newcomer);

  // Takes pages so that positions [0, position_end) have a place, from those nobody uses if need
  // be. False: not enough of them, and nothing has changed. To be called before every step in which
  // the sequence has rows, also when it has the pages: from here to computed() its state counts as
  // unknown, so that a step whose rows fail leaves nothing wrong behind when it is released.
  [[nodiscard]] bool cover(SequenceId id, size_t position_end);

  // The token at the next position: what was chosen after the last one, to be read next.
  void append(SequenceId id, TokenId token);

  // Where a chunk of the prompt from `position` on has to end at the latest for the next snapshot
  // to be taken. SIZE_MAX if there is none ahead. A chunk that runs past it costs the snapshot
  // only.
  size_t next_cut(SequenceId id, size_t position) const;

  // A step has run the rows of positions up to `position_end`, all covered, of known tokens. Pages
  // that are full now go into the tree, and a snapshot that is due here is taken. Where the tree
  // has an equal page already, that one takes the place of the sequence's: pages() may change.
  void computed(SequenceId id, size_t position_end);

  // Finished, cancelled or retracted: what was computed() in whole pages stays in the tree, the
  // rest is free. Loads that are not taken yet are dropped. Ids that are not resident are ignored.
  void release(SequenceId id);

  bool is_resident(SequenceId id) const;

  // The page of each page_size positions, in order; at least those covered. Valid until the next
  // call that is not const.
  std::span<const int32_t> pages(SequenceId id) const;
  int32_t state_slot(SequenceId id) const;  // -1 in models without recurrent layers

  // What is to be done before the next rows run, in this order; each is handed out once and taken
  // as done. Where a transfer other than a load fails, everybody is released and flush() called.
  std::vector<Transfer> take_transfers();

  size_t num_pages_available() const;  // free, or in the tree and used by nobody
  size_t num_slots_available() const;  // for newcomers; SIZE_MAX in models without recurrent layers

  // Forgets all that no sequence uses, without offering it to the tiers.
  void flush();

  // Offers to the tiers whatever in the tree they want: to be done before the process ends.
  void save_all();

  CacheStats stats() const;

  // Counts everything again from nothing and aborts if a number is wrong: each page and slot has
  // one owner, locks are the number of users, the order of eviction holds. For tests; O(pages).
  void check() const;

 private:
  // What a newcomer's tokens meet: pages in the tree, after these pages in the tiers.
  struct Found {
    Match match;
    std::vector<int32_t> nodes;            // in the tree, as far as they match
    std::vector<EntryKey> keys_to_load;    // of the pages after them
    int32_t snapshot = PrefixTree::kNone;  // the node with the state to go on from
    EntryKey state_to_load;                // where match.loads_state
    size_t num_pages_known = 0;            // to the branching point
  };

  struct Resident {
    std::vector<TokenId> tokens;
    std::vector<int32_t> pages;
    size_t num_shared = 0;  // so many pages from the front are in the tree
    int32_t slot = -1;
    uint64_t salt = 0;
    uint64_t session = 0;
    size_t num_prompt_tokens = 0;
    size_t num_computed = 0;
    bool slot_is_exact = false;  // the slot holds the state at num_computed, and no row may have
                                 // changed it since
    std::vector<SnapshotPoint> points;  // of the prompt
    int32_t trail = PrefixTree::kNone;  // the node with the snapshot that moves along
  };

  enum class Need {
    own,       // a sequence cannot run without
    wanted,    // a snapshot that may cost a session its newest
    optional,  // one that may not
  };

  // How a page leaves the tree.
  enum class Parting {
    evicted,    // it is worth something: the tiers may have it
    forgotten,  // it is worth nothing, or is meant to be gone
  };

  bool has_states() const { return slots_.size() > 0; }
  Resident& resident(SequenceId id);
  const Resident& resident(SequenceId id) const;
  std::span<const TokenId> page_tokens(const std::vector<TokenId>& tokens, size_t page) const;
  PrefixTree::Above above(const Resident& sequence, size_t page) const;

  Found find(const Newcomer& newcomer) const;
  void find_in_tree(const Newcomer& newcomer, size_t num_pages_max, Found& found) const;
  EntryKey find_in_tiers(const Newcomer& newcomer, size_t num_pages_max, Found& found) const;
  void explain_end(const Newcomer& newcomer, size_t num_pages_max, const EntryKey& last,
                   Found& found) const;
  void stop_at_state(Found& found) const;

  void take_place(const Newcomer& newcomer, const Found& found, Resident& sequence);
  void load_state(SequenceId id, const Found& found, Resident& sequence);
  void plan_snapshots(const Newcomer& newcomer, const Found& found, Resident& sequence);
  void count_lookup(const Newcomer& newcomer, const Match& match);

  void share_full_pages(Resident& sequence);
  void snapshot_if_due(Resident& sequence);
  bool take_snapshot(const Resident& sequence, Need need);
  void move_trail(Resident& sequence);
  void leave_own_state(Resident& sequence);
  void remember_session(const Resident& sequence);
  void bound_sessions();

  int32_t take_page();
  void evict_page();
  int32_t take_slot(Need need);  // -1: none to be had, which does not happen to Need::own
  bool evict_snapshot(Need need);
  void drop_useless(int32_t node, Parting parting);
  void drop_node(int32_t node, Parting parting);
  bool drop_oldest_session();
  void offer(Transfer::Kind kind, int32_t from, const EntryKey& key);

  void check_owners() const;
  void check_users() const;

  size_t page_size_;
  size_t snapshot_interval_;
  bool reuse_;
  const StoredEntries* stored_;
  Pool pages_;
  Pool slots_;
  PrefixTree tree_;
  LiveSessions sessions_;
  EvictedKeys evicted_;
  std::unordered_map<SequenceId, Resident> residents_;
  std::vector<Transfer> transfers_;
  CacheStats sums_;  // only what is summed over time
};

}  // namespace evener::cache
