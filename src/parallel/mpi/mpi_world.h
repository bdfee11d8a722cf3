#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "parallel/comm_options.h"
#include "parallel/grid.h"

namespace evener::parallel {

namespace mpi {
class MpiLink;
}

// Something that must be the same in all processes: what it is called in a message, and its value.
struct Agreement {
  std::string name;   // "version", "model"
  std::string value;  // "0.1.0", "9f3c..."
};

// The processes that `mpirun -n N evener ...` started, on one host or several, as one of them sees
// them. One a process, one rank each. Open MPI's library is loaded by join(), so that programs that
// run alone neither need nor wait for it.
//
// A process that is not heard of for the deadline breaks the world for all that are left, as a rank
// that is late does; nothing can be made of it any more then, and the processes have to end.
// By default mpirun ends all processes as soon as one has died or failed; with --enable-recovery it
// leaves it to them.
// Judge: tests/parallel/mpi_program.cpp under mpirun.
class MpiWorld {
 public:
  // Whether mpirun started this process.
  static bool launched();

  // Waits for all processes. `options` has the deadline; names are made here, of the hosts and
  // `label` ("cpu:0"). Once a process. Errors: unavailable (Open MPI is not installed, or does not
  // start; a process does not come), unsupported.
  static Result<std::unique_ptr<MpiWorld>> join(const CommOptions& options,
                                                const std::string& label);

  // Ends MPI if all processes come to that within the deadline. Without that, mpirun takes the
  // process for a failed one and ends the others.
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  size_t rank() const;
  size_t size() const;
  const std::string& name(size_t rank) const;   // "rank 1 (host-b cpu:0)"
  const std::string& place(size_t rank) const;  // "host-b cpu:0"
  const std::string& host(size_t rank) const;   // "host-b"
  std::shared_ptr<Heartbeats> heartbeats() const;
  Status status() const;
  void break_with(Error error);
  // The same with what went wrong in this process, naming it, which it returns. What went wrong
  // because the world is broken stays as it is.
  Error fail(Error error);

  // What every process gives, by rank. All call it; waits for all, however long they take. Errors:
  // as receive_bytes().
  using Bytes = std::vector<std::byte>;
  Result<std::vector<Bytes>> exchange(std::span<const std::byte> own);

  // Every process states the same list of names; an error on all of them names the ranks whose
  // values differ from rank 0's, and in what. Errors: as exchange(); invalid_argument.
  Status agree(const std::vector<Agreement>& stated);

  // This process' rank of the grid. Error: invalid_argument: mpirun started another number of
  // processes.
  Result<RankComms> connect(const Grid& grid, const CommOptions& options);

  // Between two processes, beside what comms send, in order: from one thread to one thread. Sending
  // may return before the bytes are received. Receiving waits as long as the other process lives.
  // Errors: unavailable (the world is broken, or the other process has left), limit_exceeded.
  static constexpr size_t kBytesMax = size_t{256} << 20;
  Status send_bytes(size_t to, std::span<const std::byte> bytes);
  Result<Bytes> receive_bytes(size_t from);

  // Waits until that process is about to end, or nothing has been heard of it for the deadline. In
  // a broken world too.
  void wait_until_left(size_t rank);

 private:
  explicit MpiWorld(std::shared_ptr<mpi::MpiLink> link);
  std::string differences(size_t rank, const std::vector<Agreement>& theirs,
                          const std::vector<Agreement>& wanted) const;

  std::shared_ptr<mpi::MpiLink> link_;
};

}  // namespace evener::parallel
