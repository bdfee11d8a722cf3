#include "cache/residency.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::cache {
namespace {

// Sessions keep their newest turns as long as they leave this part of pages and slots to others.
constexpr size_t kPartForOthers = 4;
// Message ends of one prompt take at most this part of the slots for snapshots.
constexpr size_t kPartForMessageEnds = 4;

size_t max_kept(size_t pool_size) { return pool_size - pool_size / kPartForOthers; }

}  // namespace

Residency::Residency(const ResidencyOptions& options, const StoredEntries* stored)
    : page_size_(options.page_size),
      snapshot_interval_(options.snapshot_interval),
      reuse_(options.reuse),
      stored_(stored),
      pages_(options.num_pages),
      slots_(options.num_state_slots),
      tree_(options.num_pages, options.page_size),
      evicted_(options.num_pages) {}

Residency::Resident& Residency::resident(SequenceId id) {
  const auto it = residents_.find(id);
  EVENER_ASSERT(it != residents_.end());
  return it->second;
}

const Residency::Resident& Residency::resident(SequenceId id) const {
  const auto it = residents_.find(id);
  EVENER_ASSERT(it != residents_.end());
  return it->second;
}

std::span<const TokenId> Residency::page_tokens(const std::vector<TokenId>& tokens,
                                                size_t page) const {
  return std::span(tokens).subspan(page * page_size_, page_size_);
}

PrefixTree::Above Residency::above(const Resident& sequence, size_t page) const {
  return {.node = page == 0 ? PrefixTree::kNone : sequence.pages[page - 1], .salt = sequence.salt};
}

std::optional<Match> Residency::admit(const Newcomer& newcomer) {
  EVENER_ASSERT(!is_resident(newcomer.id));
  const Found found = find(newcomer);
  const Match& match = found.match;
  if (num_pages_available() < match.num_pages_to_lock + match.num_pages_to_load) return {};
  if (num_slots_available() == 0) return {};

  Resident& sequence = residents_[newcomer.id];
  take_place(newcomer, found, sequence);
  if (has_states()) load_state(newcomer.id, found, sequence);
  if (has_states() && reuse_) plan_snapshots(newcomer, found, sequence);
  count_lookup(newcomer, match);
  return match;
}

void Residency::take_place(const Newcomer& newcomer, const Found& found, Resident& sequence) {
  sequence.tokens = newcomer.tokens;
  sequence.salt = newcomer.salt;
  sequence.session = newcomer.session;
  sequence.num_prompt_tokens = newcomer.tokens.size();
  sequence.num_computed = found.match.num_tokens;

  sequence.pages = found.nodes;
  sequence.num_shared = found.nodes.size();
  for (const int32_t node : found.nodes) tree_.use(node);
  for (const EntryKey& key : found.keys_to_load) {
    const int32_t page = take_page();
    sequence.pages.push_back(page);
    transfers_.push_back(
        {.kind = Transfer::Kind::load_page, .to = page, .key = key, .sequence = newcomer.id});
  }
}

void Residency::load_state(SequenceId id, const Found& found, Resident& sequence) {
  if (found.snapshot == PrefixTree::kNone) {
    sequence.slot = take_slot(Need::own);
    if (!found.match.loads_state) {
      transfers_.push_back({.kind = Transfer::Kind::clear_state, .to = sequence.slot});
      return;
    }
    transfers_.push_back({.kind = Transfer::Kind::load_state,
                          .to = sequence.slot,
                          .key = found.state_to_load,
                          .sequence = id});
    return;
  }
  const int32_t snapshot = tree_.snapshot(found.snapshot);
  tree_.touch_snapshot(found.snapshot);
  sequence.slot = take_slot(Need::own);
  if (sequence.slot == snapshot) return;  // no other was left: it became the sequence's own
  transfers_.push_back({.kind = Transfer::Kind::copy_state, .from = snapshot, .to = sequence.slot});
}

void Residency::plan_snapshots(const Newcomer& newcomer, const Found& found, Resident& sequence) {
  const size_t num_message_ends = std::max<size_t>(slots_.size() / kPartForMessageEnds, 2);
  sequence.points = snapshot_points({.num_tokens = newcomer.tokens.size(),
                                     .first_position = found.match.num_tokens,
                                     .message_ends = newcomer.message_ends,
                                     .branch = found.num_pages_known * page_size_},
                                    {.page_size = page_size_,
                                     .interval = snapshot_interval_,
                                     .num_message_ends = num_message_ends});
}

void Residency::count_lookup(const Newcomer& newcomer, const Match& match) {
  ++sums_.num_lookups;
  sums_.num_hits += match.num_tokens > 0 ? 1 : 0;
  sums_.tokens_looked_up += newcomer.tokens.size();
  sums_.tokens_matched += match.num_tokens;
  sums_.pages_loaded += match.num_pages_to_load;
  sums_.states_loaded += match.loads_state ? 1 : 0;
}

bool Residency::cover(SequenceId id, size_t position_end) {
  Resident& sequence = resident(id);
  const size_t num_pages = (position_end + page_size_ - 1) / page_size_;
  const size_t num_held = sequence.pages.size();
  if (num_pages > num_held && num_pages - num_held > num_pages_available()) return false;
  while (sequence.pages.size() < num_pages) sequence.pages.push_back(take_page());
  sequence.slot_is_exact = false;
  return true;
}

void Residency::append(SequenceId id, TokenId token) { resident(id).tokens.push_back(token); }

size_t Residency::next_cut(SequenceId id, size_t position) const {
  const auto& points = resident(id).points;
  const auto next = std::ranges::upper_bound(points, position, {}, &SnapshotPoint::position);
  return next == points.end() ? SIZE_MAX : next->position;
}

void Residency::computed(SequenceId id, size_t position_end) {
  Resident& sequence = resident(id);
  EVENER_ASSERT(position_end > sequence.num_computed);
  EVENER_ASSERT(position_end <= sequence.tokens.size());
  EVENER_ASSERT(position_end <= sequence.pages.size() * page_size_);
  sequence.num_computed = position_end;
  sequence.slot_is_exact = true;
  if (!reuse_) return;
  share_full_pages(sequence);
  if (has_states()) snapshot_if_due(sequence);
}

void Residency::share_full_pages(Resident& sequence) {
  while ((sequence.num_shared + 1) * page_size_ <= sequence.num_computed) {
    const size_t index = sequence.num_shared++;
    const auto tokens = page_tokens(sequence.tokens, index);
    const int32_t equal = tree_.find_child(above(sequence, index), tokens);
    if (equal == PrefixTree::kNone) {
      tree_.insert(sequence.pages[index], above(sequence, index), tokens);
      continue;
    }
    pages_.give_back(sequence.pages[index]);
    sequence.pages[index] = equal;
    tree_.use(equal);
  }
}

void Residency::snapshot_if_due(Resident& sequence) {
  if (sequence.num_computed % page_size_ != 0) return;
  if (sequence.num_computed > sequence.num_prompt_tokens) return move_trail(sequence);
  const auto point = std::ranges::lower_bound(sequence.points, sequence.num_computed, {},
                                              &SnapshotPoint::position);
  if (point == sequence.points.end() || point->position != sequence.num_computed) return;
  (void)take_snapshot(sequence, point->optional ? Need::optional : Need::wanted);
}

// At num_computed, which is on the grid: the last shared page ends there. False: no snapshot was
// taken, because there is one already or no slot to be had.
bool Residency::take_snapshot(const Resident& sequence, Need need) {
  const int32_t node = sequence.pages[sequence.num_shared - 1];
  if (tree_.snapshot(node) != PrefixTree::kNone) {
    tree_.touch_snapshot(node);
    return false;
  }
  const int32_t slot = take_slot(need);
  if (slot < 0) return false;
  transfers_.push_back({.kind = Transfer::Kind::copy_state, .from = sequence.slot, .to = slot});
  tree_.set_snapshot(node, slot);
  ++sums_.snapshots_taken;
  return true;
}

// The answer's snapshot moves along: the one before it is given up, unless a session ends there.
void Residency::move_trail(Resident& sequence) {
  const int32_t before = std::exchange(sequence.trail, PrefixTree::kNone);
  if (before != PrefixTree::kNone && tree_.snapshot(before) != PrefixTree::kNone &&
      !tree_.ends_session(before)) {
    slots_.give_back(tree_.take_snapshot(before));
  }
  if (take_snapshot(sequence, Need::wanted))
    sequence.trail = sequence.pages[sequence.num_shared - 1];
}

void Residency::release(SequenceId id) {
  const auto it = residents_.find(id);
  if (it == residents_.end()) return;
  Resident sequence = std::move(it->second);
  residents_.erase(it);
  std::erase_if(transfers_, [id](const Transfer& transfer) {
    return transfer.is_load() && transfer.sequence == id;
  });

  if (has_states()) leave_own_state(sequence);
  remember_session(sequence);
  while (sequence.pages.size() > sequence.num_shared) {
    pages_.give_back(sequence.pages.back());
    sequence.pages.pop_back();
  }
  for (size_t page = sequence.num_shared; page > 0; --page) {
    const int32_t node = sequence.pages[page - 1];
    tree_.unuse(node);
    drop_useless(node, Parting::forgotten);
  }
  bound_sessions();
}

// A sequence that stops on the grid leaves its slot in the tree; otherwise the slot is free.
void Residency::leave_own_state(Resident& sequence) {
  const int32_t slot = std::exchange(sequence.slot, -1);
  const bool on_grid =
      sequence.num_shared > 0 && sequence.num_shared * page_size_ == sequence.num_computed;
  if (!on_grid || !sequence.slot_is_exact) return slots_.give_back(slot);
  const int32_t node = sequence.pages[sequence.num_shared - 1];
  if (tree_.snapshot(node) != PrefixTree::kNone) return slots_.give_back(slot);
  tree_.set_snapshot(node, slot);
  ++sums_.snapshots_taken;
}

void Residency::remember_session(const Resident& sequence) {
  if (sequence.session == 0) return;
  size_t num_pages = sequence.num_shared;
  while (has_states() && num_pages > 0 &&
         tree_.snapshot(sequence.pages[num_pages - 1]) == PrefixTree::kNone) {
    --num_pages;
  }
  if (num_pages == 0) return;
  const int32_t end = sequence.pages[num_pages - 1];
  const auto before = sessions_.set({.id = sequence.session, .end = end});
  tree_.keep(end);
  if (before) tree_.unkeep(*before);
}

void Residency::bound_sessions() {
  while (tree_.num_kept() > max_kept(pages_.size()) ||
         tree_.num_snapshots_kept() > max_kept(slots_.size()) || sessions_.size() > pages_.size()) {
    drop_oldest_session();
  }
}

bool Residency::is_resident(SequenceId id) const { return residents_.contains(id); }

std::span<const int32_t> Residency::pages(SequenceId id) const { return resident(id).pages; }

int32_t Residency::state_slot(SequenceId id) const { return resident(id).slot; }

std::vector<Transfer> Residency::take_transfers() { return std::exchange(transfers_, {}); }

size_t Residency::num_pages_available() const {
  return pages_.num_available() + tree_.num_unused();
}

size_t Residency::num_slots_available() const {
  return has_states() ? slots_.size() - residents_.size() : SIZE_MAX;
}

int32_t Residency::take_page() {
  if (pages_.num_available() == 0) evict_page();
  return pages_.take();
}

void Residency::evict_page() {
  while (tree_.first_to_evict() == PrefixTree::kNone) {
    const bool dropped = drop_oldest_session();
    EVENER_ASSERT(dropped);  // somebody counted the pages that nobody uses before
  }
  const int32_t node = tree_.first_to_evict();
  const int32_t parent = tree_.parent(node);
  drop_node(node, Parting::evicted);
  drop_useless(parent, Parting::evicted);
}

int32_t Residency::take_slot(Need need) {
  if (slots_.num_available() == 0 && !evict_snapshot(need)) return -1;
  return slots_.take();
}

bool Residency::evict_snapshot(Need need) {
  while (tree_.snapshot_to_evict() == PrefixTree::kNone) {
    if (need == Need::optional || !drop_oldest_session()) return false;
  }
  const int32_t node = tree_.snapshot_to_evict();
  offer(Transfer::Kind::save_state, tree_.snapshot(node), state_key(tree_.key(node)));
  slots_.give_back(tree_.take_snapshot(node));
  ++sums_.snapshots_evicted;
  drop_useless(node, Parting::evicted);
  return true;
}

// In models with recurrent layers nobody can stop at a page without a snapshot: as a leaf that no
// sequence uses it is of no use, and neither is what such a leaf leaves behind above it.
void Residency::drop_useless(int32_t node, Parting parting) {
  while (has_states() && node != PrefixTree::kNone && tree_.is_leaf(node) &&
         tree_.num_users(node) == 0 && tree_.snapshot(node) == PrefixTree::kNone) {
    const int32_t parent = tree_.parent(node);
    drop_node(node, parting);
    node = parent;
  }
}

void Residency::drop_node(int32_t node, Parting parting) {
  const int32_t slot = tree_.snapshot(node);
  const EntryKey key = tree_.key(node);
  if (parting == Parting::evicted) {
    if (slot != PrefixTree::kNone) offer(Transfer::Kind::save_state, slot, state_key(key));
    offer(Transfer::Kind::save_page, node, key);
    evicted_.remember(key);
    ++sums_.pages_evicted;
    sums_.snapshots_evicted += slot != PrefixTree::kNone ? 1 : 0;
  }
  if (slot != PrefixTree::kNone) slots_.give_back(tree_.take_snapshot(node));
  tree_.remove(node);
  pages_.give_back(node);
}

bool Residency::drop_oldest_session() {
  const auto session = sessions_.drop_oldest();
  if (session) tree_.unkeep(session->end);
  return session.has_value();
}

void Residency::offer(Transfer::Kind kind, int32_t from, const EntryKey& key) {
  if (stored_ == nullptr || !stored_->wants(key)) return;
  transfers_.push_back({.kind = kind, .from = from, .key = key});
}

void Residency::flush() {
  while (drop_oldest_session()) {
  }
  while (tree_.first_to_evict() != PrefixTree::kNone) {
    drop_node(tree_.first_to_evict(), Parting::forgotten);
  }
  while (tree_.snapshot_to_evict() != PrefixTree::kNone) {
    slots_.give_back(tree_.take_snapshot(tree_.snapshot_to_evict()));
  }
  evicted_.clear();
}

void Residency::save_all() {
  for (int32_t page = 0; static_cast<size_t>(page) < pages_.size(); ++page) {
    if (!tree_.contains(page)) continue;
    const EntryKey& key = tree_.key(page);
    offer(Transfer::Kind::save_page, page, key);
    const int32_t slot = tree_.snapshot(page);
    if (slot != PrefixTree::kNone) offer(Transfer::Kind::save_state, slot, state_key(key));
  }
}

CacheStats Residency::stats() const {
  CacheStats stats = sums_;
  stats.num_pages = pages_.size();
  stats.pages_free = pages_.num_available();
  stats.pages_evictable = tree_.num_unused();
  stats.pages_shared = tree_.num_nodes() - tree_.num_unused();
  stats.pages_private = pages_.num_taken() - tree_.num_nodes();
  stats.num_slots = slots_.size();
  stats.slots_own = has_states() ? residents_.size() : 0;
  stats.slots_snapshot = tree_.num_snapshots();
  stats.slots_free = slots_.num_available();
  return stats;
}

}  // namespace evener::cache
