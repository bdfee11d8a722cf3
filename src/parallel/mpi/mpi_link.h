#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/function_ref.h"
#include "parallel/grid_health.h"
#include "parallel/mpi/mpi_api.h"
#include "parallel/mpi/process_state.h"

namespace evener::parallel::mpi {

// What a message is of; between two processes those of a kind arrive in order.
enum class Tag : int { state = 1, data = 2, command = 3 };

inline constexpr size_t kMessageBytesMax = size_t{1} << 30;

// A message on its way, with the memory that it needs until it is done.
struct Transfer {
  MPI_Request request = nullptr;
  std::vector<std::byte> bytes;
  bool is_done = true;
  size_t size = 0;  // that arrived
};

// The processes that mpirun started, as one of them sees them: messages between them, and a thread
// that moves what is on its way while nobody waits for it and keeps the others' state. MPI itself
// is called by one thread at a time. Any thread may call.
class MpiLink {
 public:
  // Error: unavailable (a process does not come within the deadline), and what load_mpi() says.
  static Result<std::unique_ptr<MpiLink>> join(const CommOptions& options,
                                               const std::string& label);

  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;
  ~MpiLink();

  size_t rank() const { return rank_; }
  size_t size() const { return size_; }
  GridHealth& health() { return *health_; }

  struct Place {
    std::string host;
    std::string text;  // with what the process calls its device: "host-b cpu:0"
  };
  const Place& place(size_t rank) const { return places_[rank]; }

  // Breaks the grid on all processes.
  void break_with(Error error);

  // The rank makes no calls from here on: others that wait for it get an error.
  void end_rank();

  // The process is about to end. Waits until all say so, which gives each the time to report what
  // happened, but not longer than the deadline; then ends MPI itself. False if MPI has not been
  // ended.
  bool leave_together();

  // Copies the bytes and brings them on their way. Waits while two messages of that tag to that
  // rank are on theirs. False once the grid is broken.
  bool send(const Wait& wait, Tag tag, std::span<const std::byte> head,
            std::span<const std::byte> body);

  // Begins to receive the next message, of at most so many bytes; and whether it is there. They
  // stay what they are until the process ends if the grid breaks before.
  std::shared_ptr<Transfer> start_receive(size_t from, Tag tag, size_t size_max);
  bool poll(Transfer& transfer);

  // The size of the next message, if there is one.
  std::optional<size_t> probe(size_t from, Tag tag);

  // True once ready(), which may call the functions above; false once the grid is broken, which
  // waiting for a rank that does not come makes it. Spins first. From the thread of the own rank.
  bool wait(const Wait& wait, FunctionRef<bool()> ready);

  // The same for what comes outside of the calls of a comm: it does not count as a sign of life of
  // the own rank, and also ends when the other process does.
  bool wait_for_command(size_t from, FunctionRef<bool()> ready);
  bool is_leaving(size_t rank);
  void wait_until_left(size_t rank);  // or not heard of for the deadline
  bool send_command(size_t to, std::span<const std::byte> bytes);

 private:
  using Clock = Heartbeats::Clock;

  struct Peer {
    std::shared_ptr<Transfer> state_in;
    std::shared_ptr<Transfer> state_out;
    std::deque<std::shared_ptr<Transfer>> data_out;
    std::deque<std::shared_ptr<Transfer>> commands_out;
    ProcessState state;
    Clock::time_point heard;
    bool is_known = false;  // has sent its state
  };

  explicit MpiLink(const MpiApi& api) : api_(api) {}

  Status start(const CommOptions& options, const std::string& label);
  Status wait_for_all(const CommOptions& options);
  Status call(int result, const char* what) const;

  bool has_ended(size_t rank);  // makes no more calls
  std::optional<Error> judge(const Wait& wait, Clock::time_point began);
  void pump() noexcept;
  void turn(bool is_time_to_tell);  // mutex_ is held
  void read_states();               // mutex_ is held
  void learn(size_t peer);          // mutex_ is held
  void tell_state(bool fresh);      // mutex_ is held
  void fill_own_state();            // mutex_ is held
  void look_at_processes();         // mutex_ is held
  bool test(Transfer& transfer);    // mutex_ is held
  void start_message(size_t to, Tag tag, std::span<const std::byte> head,
                     std::span<const std::byte> body);
  void start_transfer_out(size_t to, Tag tag, const std::shared_ptr<Transfer>& transfer);
  size_t num_on_their_way(std::deque<std::shared_ptr<Transfer>>& out);
  std::deque<std::shared_ptr<Transfer>>& out_of(size_t to, Tag tag);

  const MpiApi& api_;
  size_t rank_ = 0;
  size_t size_ = 0;
  std::unique_ptr<GridHealth> health_;
  std::vector<Place> places_;

  std::mutex mutex_;  // of MPI and of all below
  std::condition_variable pump_wakes_;
  std::vector<Peer> peers_;
  std::vector<std::shared_ptr<Transfer>> receives_;  // begun and not done
  ProcessState own_;
  bool is_news_ = false;  // own_ is to be told at once
  bool stop_ = false;
  std::thread pump_;
};

}  // namespace evener::parallel::mpi
