// What processes tell each other of how they are.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "parallel/mpi/mpi_link.h"

namespace evener::parallel::mpi {
namespace {

Error error_in(const ProcessState& state) {
  return {.code = Code::unavailable,
          .doing = get_text(state.doing),
          .where = get_text(state.where),
          .why = get_text(state.why),
          .remedy = get_text(state.remedy)};
}

}  // namespace

void MpiLink::fill_own_state() {
  const Heartbeats& beats = *health_->heartbeats();
  const Heartbeats::Report report = beats.report(rank_);
  own_.silent_ns = report.silent_for.count();
  own_.peer = report.peer ? int64_t(*report.peer) : -1;
  own_.waits_ns = report.waits_for.count();
  own_.pass = report.pass;
  if (own_.broken != 0 || !health_->broken()) return;
  const Error error = health_->status().error();
  put_text(own_.doing, error.doing);
  put_text(own_.where, error.where);
  put_text(own_.why, error.why);
  put_text(own_.remedy, error.remedy);
  own_.broken = 1;
}

// To all whose last one has left; others get it in a later turn.
void MpiLink::tell_state(bool fresh) {
  if (fresh) fill_own_state();
  is_news_ = false;
  for (size_t to = 0; to < size_; ++to) {
    if (to == rank_) continue;
    Peer& peer = peers_[to];
    if (!peer.state_out) peer.state_out = std::make_shared<Transfer>();
    if (!test(*peer.state_out)) {
      is_news_ = is_news_ || own_.broken != 0 || own_.leaving != 0 || own_.ended != 0;
      continue;
    }
    peer.state_out->bytes.resize(sizeof own_);
    std::memcpy(peer.state_out->bytes.data(), &own_, sizeof own_);
    start_transfer_out(to, Tag::state, peer.state_out);
  }
}

void MpiLink::read_states() {
  for (size_t from = 0; from < size_; ++from) {
    if (from == rank_) continue;
    Peer& peer = peers_[from];
    for (;;) {
      if (!peer.state_in) {
        peer.state_in = std::make_shared<Transfer>();
        peer.state_in->bytes.resize(sizeof(ProcessState));
      } else {
        if (!test(*peer.state_in)) break;
        learn(from);
      }
      Transfer& next = *peer.state_in;
      next.is_done = false;
      const Status begun = call(api_.irecv(next.bytes.data(), int(next.bytes.size()), api_.bytes,
                                           int(from), int(Tag::state), api_.world, &next.request),
                                "receive");
      if (begun) continue;
      next.is_done = true;
      peer.state_in = nullptr;
      health_->break_with(begun.error());
      break;
    }
  }
}

// What a state says. It comes from another process, which may be anything.
void MpiLink::learn(size_t from) {
  Peer& peer = peers_[from];
  ProcessState state;
  if (peer.state_in->size == sizeof state) {
    std::memcpy(&state, peer.state_in->bytes.data(), sizeof state);
  }
  if (peer.state_in->size != sizeof state || state.size != sizeof state) {
    health_->break_with({.code = Code::unavailable,
                         .doing = "talk to the other processes",
                         .where = health_->names()[from],
                         .why = "it speaks otherwise than this program does",
                         .remedy = "run the same version of Evener on every host"});
    return;
  }
  peer.state = state;
  peer.heard = Clock::now();
  peer.is_known = true;
  const bool waits = state.peer >= 0 && uint64_t(state.peer) < size_;
  health_->heartbeats()->learn(
      from, {.silent_for = std::chrono::nanoseconds(std::max<int64_t>(state.silent_ns, 0)),
             .pass = state.pass,
             .peer = waits ? std::optional(size_t(state.peer)) : std::nullopt,
             .waits_for = std::chrono::nanoseconds(std::max<int64_t>(state.waits_ns, 0))});
  if (state.broken != 0 && health_->break_with(error_in(state))) is_news_ = true;
}

// A process that is not heard of is gone, or the network to it.
void MpiLink::look_at_processes() {
  if (own_.leaving != 0) return;
  for (size_t rank = 0; rank < size_; ++rank) {
    const Peer& peer = peers_[rank];
    const auto silent_for = Clock::now() - peer.heard;
    if (rank == rank_ || peer.state.leaving != 0) continue;
    if (silent_for < health_->options().deadline) continue;
    const Error error = lost_process(health_->names(), rank, silent_for);
    if (health_->break_with(error)) is_news_ = true;
  }
}

}  // namespace evener::parallel::mpi
