#include "parallel/mpi/mpi_comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/assert.h"
#include "parallel/call_shape.h"
#include "parallel/host_rows.h"
#include "parallel/majority.h"

namespace evener::parallel::mpi {
namespace {

using device::Device;
using device::Tensor;

// In front of the values of every message.
struct DataHead {
  CallShape shape;
  uint64_t begin = 0;  // place of the first value
};

// A message that has arrived.
struct Arrived {
  std::shared_ptr<Transfer> transfer;
  DataHead head;

  std::span<const float> values() const {
    const std::byte* const first = transfer->bytes.data() + sizeof head;
    return {reinterpret_cast<const float*>(first), (transfer->size - sizeof head) / sizeof(float)};
  }
};

class MpiComm final : public Comm {
 public:
  MpiComm(std::shared_ptr<MpiLink> link, std::vector<size_t> members, const CommOptions& options)
      : link_(std::move(link)),
        members_(std::move(members)),
        rank_(size_t(std::ranges::find(members_, link_->rank()) - members_.begin())),
        one_shot_bytes_(options.one_shot_bytes),
        piece_(options.piece_bytes / sizeof(float)) {}
  ~MpiComm() override { link_->end_rank(); }

  size_t rank() const override { return rank_; }
  size_t size() const override { return members_.size(); }
  void all_reduce(Device& device, const Tensor& x) override;
  void gather(Device& device, size_t root, const Tensor& part, const Tensor& whole) override;
  void broadcast(Device& device, size_t root, const Tensor& x) override;
  void send(Device& device, size_t to, const Tensor& x) override;
  void receive(Device& device, size_t from, const Tensor& x) override;
  void verify_same(Device& device, const Tensor& x) override;
  Status status() const override { return link_->health().status(); }
  void break_with(Error error) override { link_->break_with(std::move(error)); }

 private:
  bool begin(CallKind kind);
  Wait wait_for(size_t peer) const { return {link_->rank(), members_[peer], call_}; }

  // Null, or false, once the group is broken.
  bool put(size_t to, const DataHead& head, std::span<const float> values);
  bool put_to_all(const DataHead& head, std::span<const float> values);
  std::optional<Arrived> take(size_t from);
  std::optional<Arrived> take(size_t from, const DataHead& head, size_t count);
  void out_of_step_with(size_t peer, const CallShape& ours, const CallShape& theirs);
  bool sum_at_once(const HostRows& x, Share piece, const CallShape& shape);
  bool sum_in_shares(const HostRows& x, Share piece, const CallShape& shape);
  bool take_terms(const DataHead& head, const float* mine, size_t count);
  bool broadcast_piece(const HostRows& x, Share piece, const CallShape& shape);
  bool take_part(size_t from, const HostRows& all, const Tensor& whole, size_t* col);

  template <class F>
  bool each_piece(size_t count, F f) const {
    for (size_t begin = 0; begin < count; begin += piece_) {
      if (!f(Share{begin, std::min(piece_, count - begin)})) return false;
    }
    return true;
  }

  // The values of x behind each other.
  std::span<const float> packed(const HostRows& x, Share piece) {
    packed_.resize(piece.count);
    x.copy_to(piece.begin, packed_);
    return packed_;
  }

  std::shared_ptr<MpiLink> link_;
  std::vector<size_t> members_;
  size_t rank_;
  size_t one_shot_bytes_;
  size_t piece_;
  std::array<uint64_t, kNumCallKinds> num_calls_{};
  Call call_;
  std::vector<Arrived> arrived_;
  std::vector<const float*> terms_;
  std::vector<float> packed_;
  std::vector<float> sums_;
  std::vector<float> room_;
  std::vector<float> whole_room_;
};

bool MpiComm::begin(CallKind kind) {
  call_ = {kind, ++num_calls_[size_t(kind)]};
  link_->health().heartbeats()->beat(link_->rank());
  return !link_->health().broken();
}

bool MpiComm::put(size_t to, const DataHead& head, std::span<const float> values) {
  return link_->send(wait_for(to), Tag::data, std::as_bytes(std::span(&head, 1)),
                     std::as_bytes(values));
}

bool MpiComm::put_to_all(const DataHead& head, std::span<const float> values) {
  for (size_t peer = 0; peer < size(); ++peer) {
    if (peer != rank_ && !put(peer, head, values)) return false;
  }
  return true;
}

std::optional<Arrived> MpiComm::take(size_t from) {
  std::optional<size_t> size_bytes;
  const auto is_there = [&] { return (size_bytes = link_->probe(members_[from], Tag::data)); };
  if (!link_->wait(wait_for(from), [&] { return is_there().has_value(); })) return std::nullopt;
  if (*size_bytes < sizeof(DataHead) || *size_bytes > kMessageBytesMax) {
    link_->break_with(
        out_of_step(link_->health().names(), {link_->rank(), to_text(call_)},
                    {members_[from], fmt::format("a message of {} bytes", *size_bytes)}));
    return std::nullopt;
  }
  Arrived arrived{.transfer = link_->start_receive(members_[from], Tag::data, *size_bytes),
                  .head = {}};
  if (!link_->wait(wait_for(from), [&] { return link_->poll(*arrived.transfer); })) {
    return std::nullopt;
  }
  std::memcpy(&arrived.head, arrived.transfer->bytes.data(), sizeof(DataHead));
  return arrived;
}

std::optional<Arrived> MpiComm::take(size_t from, const DataHead& head, size_t count) {
  auto arrived = take(from);
  if (!arrived) return std::nullopt;
  const bool fits = arrived->head.shape == head.shape && arrived->head.begin == head.begin &&
                    arrived->values().size() == count;
  if (fits) return arrived;
  out_of_step_with(from, head.shape, arrived->head.shape);
  return std::nullopt;
}

void MpiComm::out_of_step_with(size_t peer, const CallShape& ours, const CallShape& theirs) {
  link_->break_with(out_of_step(link_->health().names(), {link_->rank(), to_text(ours)},
                                {members_[peer], to_text(theirs)}));
}

void MpiComm::all_reduce(Device& device, const Tensor& x) {
  if (!begin(CallKind::all_reduce)) return;
  HostRows rows(device, x, HostRows::Use::update, room_);
  const CallShape shape = CallShape::of(CallKind::all_reduce, x);
  const bool at_once = rows.size() * sizeof(float) <= one_shot_bytes_;
  const bool whole = each_piece(rows.size(), [&](Share piece) {
    return at_once ? sum_at_once(rows, piece, shape) : sum_in_shares(rows, piece, shape);
  });
  if (whole) rows.finish();
}

// One message from every other rank; terms_ become theirs and `mine`, in rank order.
bool MpiComm::take_terms(const DataHead& head, const float* mine, size_t count) {
  arrived_.clear();
  terms_.clear();
  for (size_t peer = 0; peer < size(); ++peer) {
    if (peer == rank_) {
      terms_.push_back(mine);
      continue;
    }
    auto arrived = take(peer, head, count);
    if (!arrived) return false;
    terms_.push_back(arrived->values().data());
    arrived_.push_back(*std::move(arrived));
  }
  return true;
}

bool MpiComm::sum_at_once(const HostRows& x, Share piece, const CallShape& shape) {
  const auto mine = packed(x, piece);
  const DataHead head{shape, piece.begin};
  if (!put_to_all(head, mine)) return false;
  if (!take_terms(head, mine.data(), mine.size())) return false;
  x.each_piece(piece.begin, piece.count, [&](float* values, size_t place, size_t count) {
    sum_in_order(terms_, place, count, values);
  });
  return true;
}

bool MpiComm::sum_in_shares(const HostRows& x, Share piece, const CallShape& shape) {
  const auto mine = packed(x, piece);
  const auto head_of = [&](const Share& share) {
    return DataHead{shape, piece.begin + share.begin};
  };
  for (size_t peer = 0; peer < size(); ++peer) {
    const Share theirs = share_of(peer, size(), piece.count);
    if (peer == rank_) continue;
    if (!put(peer, head_of(theirs), mine.subspan(theirs.begin, theirs.count))) return false;
  }
  const Share share = share_of(rank_, size(), piece.count);
  if (!take_terms(head_of(share), mine.data() + share.begin, share.count)) return false;
  sums_.resize(share.count);
  sum_in_order(terms_, 0, share.count, sums_.data());
  if (!put_to_all(head_of(share), sums_)) return false;
  x.copy_from(piece.begin + share.begin, sums_);
  for (size_t peer = 0; peer < size(); ++peer) {
    if (peer == rank_) continue;
    const Share theirs = share_of(peer, size(), piece.count);
    const auto sum = take(peer, head_of(theirs), theirs.count);
    if (!sum) return false;
    x.copy_from(piece.begin + theirs.begin, sum->values());
  }
  return true;
}

void MpiComm::broadcast(Device& device, size_t root, const Tensor& x) {
  EVENER_ASSERT(root < size());
  if (!begin(CallKind::broadcast)) return;
  const bool is_root = rank_ == root;
  HostRows rows(device, x, is_root ? HostRows::Use::read : HostRows::Use::overwrite, room_);
  const CallShape shape = CallShape::of(CallKind::broadcast, x, root);
  const bool whole =
      each_piece(rows.size(), [&](Share piece) { return broadcast_piece(rows, piece, shape); });
  if (whole && !is_root) rows.finish();
}

bool MpiComm::broadcast_piece(const HostRows& x, Share piece, const CallShape& shape) {
  const DataHead head{shape, piece.begin};
  if (rank_ == shape.root) return put_to_all(head, packed(x, piece));
  const auto arrived = take(shape.root, head, piece.count);
  if (!arrived) return false;
  x.copy_from(piece.begin, arrived->values());
  return true;
}

void MpiComm::send(Device& device, size_t to, const Tensor& x) {
  EVENER_ASSERT(to < size());
  EVENER_ASSERT(to != rank_);
  if (!begin(CallKind::send)) return;
  const HostRows rows(device, x, HostRows::Use::read, room_);
  put(to, {CallShape::of(CallKind::send, x), 0}, packed(rows, {0, rows.size()}));
}

void MpiComm::receive(Device& device, size_t from, const Tensor& x) {
  EVENER_ASSERT(from < size());
  EVENER_ASSERT(from != rank_);
  if (!begin(CallKind::receive)) return;
  HostRows rows(device, x, HostRows::Use::overwrite, room_);
  const auto arrived = take(from, {CallShape::of(CallKind::send, x), 0}, rows.size());
  if (!arrived) return;
  rows.copy_from(0, arrived->values());
  rows.finish();
}

void MpiComm::gather(Device& device, size_t root, const Tensor& part, const Tensor& whole) {
  EVENER_ASSERT(root < size());
  if (!begin(CallKind::gather)) return;
  const HostRows mine(device, part, HostRows::Use::read, room_);
  if (rank_ != root) {
    put(root, {CallShape::of(CallKind::gather, part, root), 0}, packed(mine, {0, mine.size()}));
    return;
  }
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
  if (col == whole.cols) return all.finish();
  out_of_step_with(
      (root + 1) % size(), CallShape::of(CallKind::gather, whole, root),
      CallShape{CallKind::gather, uint32_t(root), uint32_t(whole.rows), uint32_t(col - part.cols)});
}

// The part of another rank, into columns from `col` on, which moves behind them.
bool MpiComm::take_part(size_t from, const HostRows& all, const Tensor& whole, size_t* col) {
  const auto arrived = take(from);
  if (!arrived) return false;
  const CallShape& theirs = arrived->head.shape;
  const CallShape ours{CallKind::gather, uint32_t(rank_), uint32_t(whole.rows), theirs.cols};
  if (theirs != ours || theirs.cols > whole.cols - *col ||
      arrived->values().size() != theirs.size()) {
    out_of_step_with(from, CallShape::of(CallKind::gather, whole, rank_), theirs);
    return false;
  }
  for (size_t row = 0; row < whole.rows; ++row) {
    all.copy_from(row * whole.cols + *col,
                  arrived->values().subspan(row * theirs.cols, theirs.cols));
  }
  *col += theirs.cols;
  return true;
}

void MpiComm::verify_same(Device& device, const Tensor& x) {
  if (!begin(CallKind::comparison)) return;
  std::vector<uint64_t> hashes(size());
  hashes[rank_] = HostRows(device, x, HostRows::Use::read, room_).hash();
  std::array<float, sizeof(uint64_t) / sizeof(float)> mine;  // as bytes
  std::memcpy(mine.data(), &hashes[rank_], sizeof mine);
  const DataHead head{CallShape::of(CallKind::comparison, x), 0};
  if (!put_to_all(head, mine)) return;
  if (!take_terms(head, mine.data(), mine.size())) return;
  for (size_t rank = 0; rank < size(); ++rank) {
    std::memcpy(&hashes[rank], terms_[rank], sizeof mine);
  }
  std::vector<size_t> different = outside_majority(hashes);
  if (different.empty()) return;
  for (size_t& rank : different) rank = members_[rank];
  link_->break_with(different_values(link_->health().names(), different, call_));
}

}  // namespace

std::unique_ptr<Comm> make_mpi_comm(std::shared_ptr<MpiLink> link, std::vector<size_t> members,
                                    const CommOptions& options) {
  if (members.size() == 1) return std::make_unique<SoloComm>();
  return std::make_unique<MpiComm>(std::move(link), std::move(members), options);
}

}  // namespace evener::parallel::mpi
