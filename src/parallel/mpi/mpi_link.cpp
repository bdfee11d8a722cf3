#include "parallel/mpi/mpi_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/spin.h"

namespace evener::parallel::mpi {
namespace {

constexpr auto kBusyTurn = std::chrono::microseconds(100);
constexpr auto kIdleTurn = std::chrono::milliseconds(5);
constexpr auto kLongestNap = std::chrono::microseconds(500);
// The shortest nap takes some 70 us, more than ranks in step are apart: one that napped would come
// late itself, and the other would nap in its turn.
constexpr auto kRankSpinTime = std::chrono::microseconds(300);
constexpr size_t kOnTheirWayMax = 2;
constexpr size_t kCommandsMax = 64;

// Between two looks of somebody who has waited so long: no wait becomes longer by more than a part
// of itself, and an idle process wakes seldom.
void nap(std::chrono::nanoseconds waited, std::chrono::nanoseconds longest) {
  std::this_thread::sleep_for(std::min(waited / 32, longest));
}

// A large message that the receiver has not asked for yet moves only while the sender calls MPI. To
// wake the pump for small ones would cost more than to send them.
bool needs_help(const std::shared_ptr<Transfer>& transfer) {
  constexpr size_t kEagerBytes = 4000;  // within the limits of all of Open MPI's ways
  return transfer->bytes.size() > kEagerBytes;
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
    Place place{.host = get_text(state.host), .text = get_text(state.host)};
    if (!label.empty()) place.text += " " + label;
    named.names.push_back(fmt::format("rank {} ({})", rank, place.text));
    places_.push_back(std::move(place));
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
  const auto deadline = health_->options().deadline;
  const auto end = Clock::now() + deadline;
  const auto all_leave = [&] {
    return std::ranges::all_of(peers_, [&](const Peer& peer) {
      return &peer == &peers_[rank_] || peer.state.leaving != 0;
    });
  };
  const auto is_one_lost = [&] {
    return std::ranges::any_of(peers_, [&](const Peer& peer) {
      const bool lives = peer.state.leaving != 0 || Clock::now() - peer.heard < deadline;
      return &peer != &peers_[rank_] && !lives;
    });
  };
  std::unique_lock lock(mutex_);
  own_.leaving = 1;
  is_news_ = true;
  // What the pump still has to tell is told; then nothing of ours is left with MPI but the
  // receives.
  while (!all_leave() || is_news_) {
    if (Clock::now() > end || is_one_lost()) return false;
    pump_wakes_.notify_all();
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
                           return std::ranges::any_of(peer.data_out, needs_help) ||
                                  std::ranges::any_of(peer.commands_out, needs_help);
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
  if (needs_help(transfer)) pump_wakes_.notify_all();
  out_of(to, tag).push_back(std::move(transfer));
}

bool MpiLink::send_command(size_t to, std::span<const std::byte> bytes) {
  EVENER_ASSERT(to != rank_);
  const auto has_room = [&] {
    const std::scoped_lock lock(mutex_);
    return num_on_their_way(out_of(to, Tag::command)) < kCommandsMax;
  };
  if (!wait_for_command(to, has_room)) return false;
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
  while (!(is_ready = ready()) && !health_->broken()) {
    const auto waited = Clock::now() - began;
    waited < kRankSpinTime ? relax() : nap(waited, kLongestNap);
    if (Clock::now() - looked < health_->look_interval()) continue;
    looked = Clock::now();
    health_->heartbeats()->beat(wait.rank);
    if (auto error = judge(wait, began)) break_with(*std::move(error));
  }
  health_->heartbeats()->end_wait(wait.rank);
  return is_ready;
}

bool MpiLink::wait_for_command(size_t from, FunctionRef<bool()> ready) {
  if (spin_until([&] { return ready(); })) return true;
  const auto began = Clock::now();
  while (!ready()) {
    if (is_leaving(from) || health_->broken()) return ready();  // it may have come in between
    nap(Clock::now() - began, kIdleTurn);
  }
  return true;
}

void MpiLink::wait_until_left(size_t rank) {
  const auto is_over = [&] {
    const std::scoped_lock lock(mutex_);
    const Peer& peer = peers_[rank];
    return peer.state.leaving != 0 || Clock::now() - peer.heard >= health_->options().deadline;
  };
  while (!is_over()) std::this_thread::sleep_for(kIdleTurn);
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
