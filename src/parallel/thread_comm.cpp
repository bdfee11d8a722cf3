#include "parallel/thread_comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "parallel/host_rows.h"
#include "parallel/majority.h"
#include "parallel/thread_group.h"

namespace evener::parallel {
namespace {

using device::Device;
using device::Tensor;

class ThreadComm final : public Comm {
 public:
  ThreadComm(std::shared_ptr<ThreadGroup> group, size_t rank)
      : group_(std::move(group)),
        grid_(*group_->grid),
        rank_(rank),
        known_(group_->members.size(), progress_at(kFirstRound - 1, Phase::done)) {}
  ~ThreadComm() override { grid_.leave(group_->members[rank_]); }

  size_t rank() const override { return rank_; }
  size_t size() const override { return group_->members.size(); }
  void all_reduce(Device& device, const Tensor& x) override;
  void gather(Device& device, size_t root, const Tensor& part, const Tensor& whole) override;
  void broadcast(Device& device, size_t root, const Tensor& x) override;
  void send(Device& device, size_t to, const Tensor& x) override;
  void receive(Device& device, size_t from, const Tensor& x) override;
  void verify_same(Device& device, const Tensor& x) override;
  Status status() const override { return grid_.status(); }
  void break_with(Error error) override { grid_.break_with(std::move(error)); }

 private:
  bool begin(CallKind kind);

  // Of one round each: false, or null, once the group is broken.
  float* open_round();
  void report(Phase phase);
  bool post(const CallShape& shape);
  bool meet(size_t peer, const CallShape& shape);
  bool wait_for(size_t peer, uint64_t progress);
  bool sum_at_once(const HostRows& x, Share piece, const CallShape& shape);
  bool sum_in_shares(const HostRows& x, Share piece, const CallShape& shape);

  float* slot(size_t rank) const { return group_->slots[rank][round_ % 2].get(); }
  std::span<const float* const> slots();
  size_t piece_floats() const { return grid_.options().piece_bytes / sizeof(float); }

  // False once the group is broken.
  template <class F>
  bool each_piece(size_t count, F f) const;

  bool show(const HostRows& x, Share piece, const CallShape& shape);
  bool copy_from_root(const HostRows& x, Share piece, const CallShape& shape);
  bool take_part(size_t from, const HostRows& all, const Tensor& whole, size_t* col);
  void put(size_t to, const CallShape& shape, const HostRows& x);
  void put_directly(Device& device, size_t to, const Tensor& x);
  void break_by(const Device& device);
  void out_of_step_with(size_t peer, const CallShape& ours, const CallShape& theirs);

  std::shared_ptr<ThreadGroup> group_;
  ThreadGrid& grid_;
  size_t rank_;
  std::vector<uint64_t> known_;  // progress of each member, as far as seen
  uint64_t round_ = kFirstRound - 1;
  std::array<uint64_t, kNumCallKinds> num_calls_{};
  Call call_;
  std::vector<const float*> slots_;
  std::vector<float> room_;  // for what the host may not see in place
  std::vector<float> whole_room_;
};

// False if the group is broken.
bool ThreadComm::begin(CallKind kind) {
  call_ = {kind, ++num_calls_[size_t(kind)]};
  grid_.heartbeats()->beat(group_->members[rank_]);
  return !grid_.broken();
}

bool ThreadComm::wait_for(size_t peer, uint64_t progress) {
  if (known_[peer] >= progress) return true;
  const std::atomic<uint64_t>& made = group_->seats[peer].progress;
  const Wait wait{.rank = group_->members[rank_], .peer = group_->members[peer], .call = call_};
  return grid_.wait(wait, [&] { return (known_[peer] = made.load()) >= progress; });
}

// The slot to fill for the next round.
float* ThreadComm::open_round() {
  ++round_;
  for (size_t peer = 0; peer < size(); ++peer) {
    if (peer == rank_) continue;
    if (!wait_for(peer, progress_at(round_ - 2, Phase::done))) return nullptr;
  }
  return slot(rank_);
}

void ThreadComm::report(Phase phase) {
  group_->seats[rank_].progress.store(progress_at(round_, phase));
  for (size_t peer = 0; peer < size(); ++peer) {
    if (peer != rank_) grid_.wake(group_->members[peer]);
  }
}

// Shows the slot to the others and waits for theirs.
bool ThreadComm::post(const CallShape& shape) {
  group_->seats[rank_].shapes[round_ % 2] = shape;
  report(Phase::posted);
  for (size_t peer = 0; peer < size(); ++peer) {
    if (peer != rank_ && !meet(peer, shape)) return false;
  }
  return true;
}

// Waits for what `peer` has in this round.
bool ThreadComm::meet(size_t peer, const CallShape& shape) {
  if (!wait_for(peer, progress_at(round_, Phase::posted))) return false;
  const CallShape& theirs = group_->seats[peer].shapes[round_ % 2];
  if (theirs == shape) return true;
  out_of_step_with(peer, shape, theirs);
  return false;
}

void ThreadComm::out_of_step_with(size_t peer, const CallShape& ours, const CallShape& theirs) {
  grid_.break_with(out_of_step(grid_.names(), {group_->members[rank_], to_text(ours)},
                               {group_->members[peer], to_text(theirs)}));
}

std::span<const float* const> ThreadComm::slots() {
  slots_.clear();
  for (size_t rank = 0; rank < size(); ++rank) slots_.push_back(slot(rank));
  return slots_;
}

template <class F>
bool ThreadComm::each_piece(size_t count, F f) const {
  for (size_t begin = 0; begin < count; begin += piece_floats()) {
    if (!f(Share{begin, std::min(piece_floats(), count - begin)})) return false;
  }
  return true;
}

void ThreadComm::all_reduce(Device& device, const Tensor& x) {
  if (!begin(CallKind::all_reduce)) return;
  HostRows rows(device, x, HostRows::Use::update, room_);
  const CallShape shape = CallShape::of(CallKind::all_reduce, x);
  const bool at_once = rows.size() * sizeof(float) <= grid_.options().one_shot_bytes;
  const bool whole = each_piece(rows.size(), [&](Share piece) {
    return at_once ? sum_at_once(rows, piece, shape) : sum_in_shares(rows, piece, shape);
  });
  if (whole) rows.finish();
}

bool ThreadComm::sum_at_once(const HostRows& x, Share piece, const CallShape& shape) {
  float* const mine = open_round();
  if (mine == nullptr) return false;
  x.copy_to(piece.begin, {mine, piece.count});
  if (!post(shape)) return false;
  const auto terms = slots();
  x.each_piece(piece.begin, piece.count, [&](float* values, size_t place, size_t count) {
    sum_in_order(terms, place, count, values);
  });
  return true;
}

// A rank's sum takes the place of its own values, which nobody else reads.
bool ThreadComm::sum_in_shares(const HostRows& x, Share piece, const CallShape& shape) {
  float* const mine = open_round();
  if (mine == nullptr) return false;
  x.copy_to(piece.begin, {mine, piece.count});
  if (!post(shape)) return false;
  const Share share = share_of(rank_, size(), piece.count);
  sum_in_order(slots(), share.begin, share.count, mine + share.begin);
  report(Phase::reduced);
  for (size_t i = 0; i < size(); ++i) {
    const size_t rank = (rank_ + i) % size();  // its own first, while others are at work
    if (rank != rank_ && !wait_for(rank, progress_at(round_, Phase::reduced))) return false;
    const Share sum = share_of(rank, size(), piece.count);
    x.copy_from(piece.begin + sum.begin, {slot(rank) + sum.begin, sum.count});
  }
  return true;
}

void ThreadComm::broadcast(Device& device, size_t root, const Tensor& x) {
  EVENER_ASSERT(root < size());
  if (!begin(CallKind::broadcast)) return;
  const bool is_root = rank_ == root;
  HostRows rows(device, x, is_root ? HostRows::Use::read : HostRows::Use::overwrite, room_);
  const CallShape shape = CallShape::of(CallKind::broadcast, x, root);
  const bool whole = each_piece(rows.size(), [&](Share piece) {
    return is_root ? show(rows, piece, shape) : copy_from_root(rows, piece, shape);
  });
  if (whole && !is_root) rows.finish();
}

bool ThreadComm::show(const HostRows& x, Share piece, const CallShape& shape) {
  float* const mine = open_round();
  if (mine == nullptr) return false;
  x.copy_to(piece.begin, {mine, piece.count});
  group_->seats[rank_].shapes[round_ % 2] = shape;
  report(Phase::posted);
  return true;
}

bool ThreadComm::copy_from_root(const HostRows& x, Share piece, const CallShape& shape) {
  ++round_;
  if (!meet(shape.root, shape)) return false;
  x.copy_from(piece.begin, {slot(shape.root), piece.count});
  report(Phase::done);
  return true;
}

void ThreadComm::verify_same(Device& device, const Tensor& x) {
  if (!begin(CallKind::comparison)) return;
  const uint64_t hash = HostRows(device, x, HostRows::Use::read, room_).hash();
  float* const mine = open_round();
  if (mine == nullptr) return;
  std::memcpy(mine, &hash, sizeof hash);
  if (!post(CallShape::of(CallKind::comparison, x))) return;
  std::vector<uint64_t> hashes(size());
  for (size_t rank = 0; rank < size(); ++rank) std::memcpy(&hashes[rank], slot(rank), sizeof hash);
  std::vector<size_t> different = outside_majority(hashes);
  if (different.empty()) return;
  for (size_t& rank : different) rank = group_->members[rank];
  grid_.break_with(different_values(grid_.names(), different, call_));
}

void ThreadComm::send(Device& device, size_t to, const Tensor& x) {
  EVENER_ASSERT(to < size());
  EVENER_ASSERT(to != rank_);
  if (!begin(CallKind::send)) return;
  const device::PeerLink* const link = group_->mailbox(rank_, to).link.get();
  if (link != nullptr && x.rows * x.cols * sizeof(float) <= link->slot_bytes()) {
    return put_directly(device, to, x);
  }
  put(to, CallShape::of(CallKind::send, x), HostRows(device, x, HostRows::Use::read, room_));
}

void ThreadComm::put(size_t to, const CallShape& shape, const HostRows& x) {
  Mailbox::Message* const message = group_->room(rank_, to, call_);
  if (message == nullptr) return;
  if (message->room < x.size()) {
    message->values = std::make_unique_for_overwrite<float[]>(x.size());
    message->room = x.size();
  }
  message->shape = shape;
  message->is_direct = false;
  x.copy_to(0, {message->values.get(), x.size()});
  group_->post(rank_, to);
}

void ThreadComm::put_directly(Device& device, size_t to, const Tensor& x) {
  Mailbox::Message* const message = group_->room(rank_, to, call_);
  if (message == nullptr) return;
  Mailbox& box = group_->mailbox(rank_, to);
  message->shape = CallShape::of(CallKind::send, x);
  message->is_direct = true;
  if (!box.link->send(box.slot_of(*message), x)) return break_by(device);
  group_->post(rank_, to);
}

// The rank's card has failed in the middle of a call: there is nothing that others could go on
// with.
void ThreadComm::break_by(const Device& device) {
  const Status status = device.status();
  EVENER_ASSERT(!status);
  grid_.break_with(
      error_of_rank(grid_.names(), group_->members[rank_], failed_device(status.error())));
}

void ThreadComm::receive(Device& device, size_t from, const Tensor& x) {
  EVENER_ASSERT(from < size());
  EVENER_ASSERT(from != rank_);
  if (!begin(CallKind::receive)) return;
  const Mailbox::Message* const message = group_->first(from, rank_, call_);
  if (message == nullptr) return;
  const CallShape shape = CallShape::of(CallKind::send, x);
  if (message->shape != shape) return out_of_step_with(from, shape, message->shape);
  if (message->is_direct) {
    const Mailbox& box = group_->mailbox(from, rank_);
    if (!box.link->take(box.slot_of(*message), x)) return break_by(device);
  } else {
    HostRows rows(device, x, HostRows::Use::overwrite, room_);
    rows.copy_from(0, {message->values.get(), rows.size()});
    rows.finish();
  }
  group_->take(from, rank_);
}

void ThreadComm::gather(Device& device, size_t root, const Tensor& part, const Tensor& whole) {
  EVENER_ASSERT(root < size());
  if (!begin(CallKind::gather)) return;
  const CallShape shape = CallShape::of(CallKind::gather, part, root);
  const HostRows mine(device, part, HostRows::Use::read, room_);
  if (rank_ != root) return put(root, shape, mine);
  EVENER_ASSERT(whole.rows == part.rows);
  HostRows all(device, whole, HostRows::Use::overwrite, whole_room_);
  size_t col = 0;
  for (size_t rank = 0; rank < size(); ++rank) {
    if (rank != root) {
      if (!take_part(rank, all, whole, &col)) return;
      continue;
    }
    EVENER_ASSERT(part.cols <= whole.cols - col);
    mine.each_row([&](size_t row, std::span<const float> values) {
      all.copy_from(row * whole.cols + col, values);
    });
    col += part.cols;
  }
  EVENER_ASSERT(col == whole.cols);
  all.finish();
}

// The part of another rank, into columns from `col` on, which moves behind them.
bool ThreadComm::take_part(size_t from, const HostRows& all, const Tensor& whole, size_t* col) {
  const Mailbox::Message* const message = group_->first(from, rank_, call_);
  if (message == nullptr) return false;
  const CallShape& theirs = message->shape;
  const CallShape ours{CallKind::gather, uint32_t(rank_), uint32_t(whole.rows), theirs.cols};
  if (theirs != ours || theirs.cols > whole.cols - *col) {
    out_of_step_with(from, CallShape::of(CallKind::gather, whole, rank_), theirs);
    return false;
  }
  for (size_t row = 0; row < whole.rows; ++row) {
    all.copy_from(row * whole.cols + *col,
                  {message->values.get() + row * theirs.cols, theirs.cols});
  }
  *col += theirs.cols;
  group_->take(from, rank_);
  return true;
}

// One comm for each member.
std::vector<std::unique_ptr<Comm>> connect_group(const std::shared_ptr<ThreadGrid>& grid,
                                                 std::vector<size_t> members,
                                                 const std::vector<DirectLink>& links) {
  std::vector<std::unique_ptr<Comm>> comms;
  if (members.size() == 1) {
    comms.push_back(std::make_unique<SoloComm>());
    return comms;
  }
  const auto group = std::make_shared<ThreadGroup>(grid, std::move(members));
  for (const DirectLink& link : links) group->add(link);
  for (size_t rank = 0; rank < group->members.size(); ++rank) {
    comms.push_back(std::make_unique<ThreadComm>(group, rank));
  }
  return comms;
}

}  // namespace

std::vector<RankComms> connect_threads(const Grid& grid, const CommOptions& options,
                                       const std::vector<DirectLink>& links) {
  EVENER_ASSERT(grid.num_ranks() > 0);
  EVENER_ASSERT(options.piece_bytes >= sizeof(uint64_t));
  const auto common = std::make_shared<ThreadGrid>(grid.num_ranks(), options);
  std::vector<RankComms> ranks(grid.num_ranks());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].heartbeats = common->heartbeats();
    ranks[rank].rank = rank;
  }
  for (size_t stage = 0; stage < grid.num_stages; ++stage) {
    auto comms = connect_group(common, grid.ranks_of_stage(stage), {});
    for (size_t shard = 0; shard < comms.size(); ++shard) {
      ranks[grid.rank_at(stage, shard)].shards = std::move(comms[shard]);
    }
  }
  for (size_t shard = 0; shard < grid.num_shards; ++shard) {
    auto comms = connect_group(common, grid.ranks_of_shard(shard), links);
    for (size_t stage = 0; stage < comms.size(); ++stage) {
      ranks[grid.rank_at(stage, shard)].stages = std::move(comms[stage]);
    }
  }
  return ranks;
}

}  // namespace evener::parallel
