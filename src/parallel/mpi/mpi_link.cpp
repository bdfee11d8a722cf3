#include "parallel/mpi/mpi_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/spin.h"
#include "base/text.h"

namespace evener::parallel::mpi {
namespace {

// A message that the receiver has not asked for yet moves only while the sender calls MPI.
constexpr auto kBusyTurn = std::chrono::microseconds(100);
constexpr auto kIdleTurn = std::chrono::milliseconds(5);
constexpr size_t kOnTheirWayMax = 2;
constexpr size_t kCommandsMax = 64;

template <size_t N>
void put_text(char (&to)[N], const std::string& text) {
  const size_t size = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), size);
  to[size] = 0;
}

template <size_t N>
std::string get_text(const char (&from)[N]) {
  return printable({from, strnlen(from, N)}, N);
}

Error error_in(const ProcessState& state) {
  return {.code = Code::unavailable,
          .doing = get_text(state.doing),
          .where = get_text(state.where),
          .why = get_text(state.why),
          .remedy = get_text(state.remedy)};
}

}  // namespace

Status MpiLink::call(int result, const char* what) const {
  if (result == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = {};
  int size = 0;
  api_.error_string(result, text, &size);
  return Error{.code = Code::unavailable,
               .doing = "talk to the other processes",
               .where = what,
               .why = text,
               .remedy = ""};
}

Result<std::unique_ptr<MpiLink>> MpiLink::join(const CommOptions& options,
                                               const std::string& label) {
  ASSIGN_OR_RETURN(const MpiApi* const api, load_mpi());
  std::unique_ptr<MpiLink> link(new MpiLink(*api));
  RETURN_IF_ERROR(link->start(options, label));
  return link;
}

Status MpiLink::start(const CommOptions& options, const std::string& label) {
  int level = 0;
  RETURN_IF_ERROR(call(api_.init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "start"));
  RETURN_IF_ERROR(call(api_.comm_set_errhandler(api_.world, api_.errors_return), "start"));
  int rank = 0;
  int size = 0;
  RETURN_IF_ERROR(call(api_.comm_rank(api_.world, &rank), "rank"));
  RETURN_IF_ERROR(call(api_.comm_size(api_.world, &size), "size"));
  rank_ = size_t(rank);
  size_ = size_t(size);
  peers_ = std::vector<Peer>(size_);
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int host_size = 0;
  RETURN_IF_ERROR(call(api_.get_processor_name(host, &host_size), "host"));
  put_text(own_.host, host);
  put_text(own_.label, label);
  if (level < MPI_THREAD_SERIALIZED) {
    return Error{.code = Code::unsupported,
                 .doing = "start Open MPI",
                 .where = "",
                 .why = "it was built without threads",
                 .remedy = "use one that has them"};
  }
  return wait_for_all(options);
}

// The first states have the names; from then on the pump keeps them coming.
Status MpiLink::wait_for_all(const CommOptions& options) {
  health_ = std::make_unique<GridHealth>(size_, options);
  const auto began = Clock::now();
  const auto missing = [&] {
    return std::ranges::find_if(
        peers_, [&](const Peer& peer) { return !peer.is_known && &peer != &peers_[rank_]; });
  };
  for (Peer& peer : peers_) peer.heard = began;
  for (bool again = true; missing() != peers_.end(); again = false) {
    {
      const std::scoped_lock lock(mutex_);
      if (again) tell_state(false);
      read_states();
    }
    RETURN_IF_ERROR(health_->status());
    if (Clock::now() - began > options.deadline) {
      return Error{.code = Code::unavailable,
                   .doing = "talk to the other processes",
                   .where = fmt::format("rank {}", missing() - peers_.begin()),
                   .why = "no word from it since the start",
                   .remedy =
                       "see that mpirun starts the same program on every host, and that their "
                       "networks reach each other (mpirun --mca btl_tcp_if_include ...)"};
    }
    std::this_thread::sleep_for(kBusyTurn);
  }
  CommOptions named = options;
  named.names.clear();
  for (size_t rank = 0; rank < size_; ++rank) {
    const ProcessState& state = rank == rank_ ? own_ : peers_[rank].state;
    const std::string label = get_text(state.label);
    named.names.push_back(fmt::format("rank {} ({}{}{})", rank, get_text(state.host),
                                      label.empty() ? "" : " ", label));
  }
  health_ = std::make_unique<GridHealth>(size_, named);
  pump_ = std::thread([this] { pump(); });
  return {};
}

MpiLink::~MpiLink() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  pump_wakes_.notify_all();
  if (pump_.joinable()) pump_.join();
  // MPI may still write to what is on its way: it stays until the process ends.
  static std::vector<std::shared_ptr<Transfer>>* const kept =
      std::make_unique<std::vector<std::shared_ptr<Transfer>>>().release();
  for (Peer& peer : peers_) {
    kept->push_back(peer.state_in);
    kept->push_back(peer.state_out);
    kept->insert(kept->end(), peer.data_out.begin(), peer.data_out.end());
    kept->insert(kept->end(), peer.commands_out.begin(), peer.commands_out.end());
  }
  kept->insert(kept->end(), receives_.begin(), receives_.end());
}

bool MpiLink::leave_together() {
  const auto all_leave = [&] {
    return std::ranges::all_of(peers_, [&](const Peer& peer) {
      return &peer == &peers_[rank_] || peer.state.leaving != 0;
    });
  };
  const auto end = Clock::now() + health_->options().deadline;
  std::unique_lock lock(mutex_);
  own_.leaving = 1;
  is_news_ = true;
  while (!all_leave()) {
    if (Clock::now() > end) return false;
    pump_wakes_.notify_all();
    lock.unlock();
    std::this_thread::sleep_for(kBusyTurn);
    lock.lock();
  }
  // What the pump still has to tell is told; then nothing of ours is left with MPI but the
  // receives.
  while (is_news_) {
    lock.unlock();
    std::this_thread::sleep_for(kBusyTurn);
    lock.lock();
  }
  stop_ = true;
  lock.unlock();
  pump_wakes_.notify_all();
  pump_.join();
  for (Peer& peer : peers_) {
    if (!peer.state_in || peer.state_in->is_done) continue;
    api_.cancel(&peer.state_in->request);
    while (!test(*peer.state_in)) relax();
  }
  return api_.finalize() == MPI_SUCCESS;
}

void MpiLink::break_with(Error error) {
  if (!health_->break_with(std::move(error))) return;
  const std::scoped_lock lock(mutex_);
  is_news_ = true;
  pump_wakes_.notify_all();
}

void MpiLink::end_rank() {
  const std::scoped_lock lock(mutex_);
  own_.ended = 1;
  is_news_ = true;
  pump_wakes_.notify_all();
}

void MpiLink::pump() noexcept {
  const auto interval = health_->look_interval();
  auto told = Clock::now() - interval;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const bool tells = is_news_ || Clock::now() - told >= interval;
    if (tells) told = Clock::now();
    turn(tells);
    const bool is_busy = is_news_ || std::ranges::any_of(peers_, [](const Peer& peer) {
                           return !peer.data_out.empty() || !peer.commands_out.empty();
                         });
    pump_wakes_.wait_for(
        lock, is_busy ? std::chrono::nanoseconds(kBusyTurn) : std::chrono::nanoseconds(kIdleTurn));
  }
}

void MpiLink::turn(bool is_time_to_tell) {
  if (is_time_to_tell) tell_state(true);
  read_states();
  for (Peer& peer : peers_) {
    num_on_their_way(peer.data_out);
    num_on_their_way(peer.commands_out);
  }
  look_at_processes();
}

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

bool MpiLink::test(Transfer& transfer) {
  if (transfer.is_done) return true;
  int done = 0;
  MPI_Status status = {};
  const Status tested = call(api_.test(&transfer.request, &done, &status), "message");
  if (!tested) {
    if (health_->break_with(tested.error())) is_news_ = true;
    return false;
  }
  if (done == 0) return false;
  int count = 0;
  api_.get_count(&status, api_.bytes, &count);
  transfer.size = size_t(std::max(count, 0));
  transfer.is_done = true;
  return true;
}

void MpiLink::start_transfer_out(size_t to, Tag tag, const std::shared_ptr<Transfer>& transfer) {
  transfer->is_done = false;
  const Status begun =
      call(api_.isend(transfer->bytes.data(), int(transfer->bytes.size()), api_.bytes, int(to),
                      int(tag), api_.world, &transfer->request),
           "send");
  if (begun) return;
  transfer->is_done = true;
  if (health_->break_with(begun.error())) is_news_ = true;
}

// Lets go of those that have arrived.
size_t MpiLink::num_on_their_way(std::deque<std::shared_ptr<Transfer>>& out) {
  while (!out.empty() && test(*out.front())) out.pop_front();
  return out.size();
}

std::deque<std::shared_ptr<Transfer>>& MpiLink::out_of(size_t to, Tag tag) {
  return tag == Tag::data ? peers_[to].data_out : peers_[to].commands_out;
}

bool MpiLink::send(const Wait& wait_for_room, Tag tag, std::span<const std::byte> head,
                   std::span<const std::byte> body) {
  const size_t to = wait_for_room.peer;
  EVENER_ASSERT(to != rank_);
  EVENER_ASSERT(head.size() + body.size() <= kMessageBytesMax);
  const auto has_room = [&] {
    const std::scoped_lock lock(mutex_);
    return num_on_their_way(out_of(to, tag)) < kOnTheirWayMax;
  };
  if (!wait(wait_for_room, has_room)) return false;
  start_message(to, tag, head, body);
  return true;
}

void MpiLink::start_message(size_t to, Tag tag, std::span<const std::byte> head,
                            std::span<const std::byte> body) {
  auto transfer = std::make_shared<Transfer>();
  transfer->bytes.reserve(head.size() + body.size());
  transfer->bytes.insert(transfer->bytes.end(), head.begin(), head.end());
  transfer->bytes.insert(transfer->bytes.end(), body.begin(), body.end());
  const std::scoped_lock lock(mutex_);
  start_transfer_out(to, tag, transfer);
  if (test(*transfer)) return;
  out_of(to, tag).push_back(std::move(transfer));
  pump_wakes_.notify_all();
}

bool MpiLink::send_command(size_t to, std::span<const std::byte> bytes) {
  EVENER_ASSERT(to != rank_);
  const auto has_room = [&] {
    const std::scoped_lock lock(mutex_);
    return num_on_their_way(out_of(to, Tag::command)) < kCommandsMax;
  };
  if (!wait_for_command(to, Clock::time_point::max(), has_room)) return false;
  start_message(to, Tag::command, {}, bytes);
  return true;
}

std::shared_ptr<Transfer> MpiLink::start_receive(size_t from, Tag tag, size_t size_max) {
  auto transfer = std::make_shared<Transfer>();
  transfer->bytes.resize(size_max);
  transfer->is_done = false;
  const std::scoped_lock lock(mutex_);
  std::erase_if(receives_, [](const auto& receive) { return receive->is_done; });
  const Status begun = call(api_.irecv(transfer->bytes.data(), int(size_max), api_.bytes, int(from),
                                       int(tag), api_.world, &transfer->request),
                            "receive");
  if (begun) {
    receives_.push_back(transfer);
  } else if (health_->break_with(begun.error())) {
    is_news_ = true;
  }
  return transfer;
}

bool MpiLink::poll(Transfer& transfer) {
  const std::scoped_lock lock(mutex_);
  return test(transfer);
}

std::optional<size_t> MpiLink::probe(size_t from, Tag tag) {
  const std::scoped_lock lock(mutex_);
  int is_there = 0;
  int count = 0;
  MPI_Status status = {};
  const Status probed =
      call(api_.iprobe(int(from), int(tag), api_.world, &is_there, &status), "look for a message");
  if (!probed && health_->break_with(probed.error())) is_news_ = true;
  if (!probed || is_there == 0) return std::nullopt;
  api_.get_count(&status, api_.bytes, &count);
  return size_t(std::max(count, 0));
}

bool MpiLink::wait(const Wait& wait, FunctionRef<bool()> ready) {
  if (ready()) return true;
  bool is_ready = false;
  spin_until([&] { return (is_ready = ready()) || health_->broken(); });
  if (is_ready) return true;
  const auto began = Clock::now();
  auto looked = began;
  health_->heartbeats()->begin_wait(wait.rank, wait.peer);
  auto nap = std::chrono::microseconds(20);
  while (!(is_ready = ready()) && !health_->broken()) {
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(500));
    if (Clock::now() - looked < health_->look_interval()) continue;
    looked = Clock::now();
    health_->heartbeats()->beat(wait.rank);
    if (auto error = judge(wait, began)) break_with(*std::move(error));
  }
  health_->heartbeats()->end_wait(wait.rank);
  return is_ready;
}

bool MpiLink::wait_for_command(size_t from, Clock::time_point until, FunctionRef<bool()> ready) {
  auto nap = std::chrono::microseconds(20);
  while (!ready()) {
    const bool is_over = is_leaving(from) || health_->broken() || Clock::now() >= until;
    if (is_over) return ready();  // it may have come in between
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(500));
  }
  return true;
}

bool MpiLink::is_leaving(size_t rank) {
  const std::scoped_lock lock(mutex_);
  return peers_[rank].state.leaving != 0;
}

bool MpiLink::has_ended(size_t rank) {
  const std::scoped_lock lock(mutex_);
  return peers_[rank].state.ended != 0 || peers_[rank].state.leaving != 0;
}

std::optional<Error> MpiLink::judge(const Wait& wait, Clock::time_point began) {
  if (has_ended(wait.peer)) return ended_rank(health_->names(), wait.peer);
  return health_->judge(wait, began);
}

}  // namespace evener::parallel::mpi
