#pragma once

#include <chrono>
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
  std::string value;  // "0.1.0", "9f3c..."; up to kAgreementBytesMax
};
inline constexpr size_t kAgreementBytesMax = 4096;

// The processes that `mpirun -n N evener ...` started, on one host or several, as one of them sees
// them. One a process, one rank each. Open MPI's library is loaded by join(), so that programs that
// run alone neither need nor wait for it.
//
// A process that is not heard of for the deadline breaks the world for all that are left, as a rank
// that is late does; nothing can be made of it any more then, and the processes have to end.
// By default mpirun ends all processes as soon as one has died; with --enable-recovery it leaves it
// to them.
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

  // Ends MPI if all processes do so within the deadline. Without that, mpirun takes the process for
  // a failed one and ends the others.
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  size_t rank() const;
  size_t size() const;
  const std::string& name(size_t rank) const;  // "rank 1 (host-b cpu:0)"
  std::shared_ptr<Heartbeats> heartbeats() const;
  Status status() const;
  void break_with(Error error);

  // Every process states the same list of names; an error on all of them names the ranks whose
  // values differ from rank 0's, and in what. Error: unavailable; invalid_argument.
  Status agree(const std::vector<Agreement>& stated);

  // This process' rank of the grid. Error: invalid_argument: mpirun started another number of
  // processes.
  Result<RankComms> connect(const Grid& grid, const CommOptions& options);

  // Between two processes, beside what comms send, in order: from one thread to one thread. Sending
  // may return before the bytes are received. Errors: unavailable (broken, ended, or nothing came
  // within `patience`), limit_exceeded.
  static constexpr size_t kBytesMax = size_t{64} << 20;
  Status send_bytes(size_t to, std::span<const std::byte> bytes);
  Result<std::vector<std::byte>> receive_bytes(size_t from, std::chrono::milliseconds patience);

 private:
  explicit MpiWorld(std::shared_ptr<mpi::MpiLink> link);
  std::string differences(const std::vector<Agreement>& stated, size_t rank,
                          const std::vector<Agreement>& theirs) const;
  Result<std::string> compare_all(const std::vector<Agreement>& stated);

  std::shared_ptr<mpi::MpiLink> link_;
};

}  // namespace evener::parallel
