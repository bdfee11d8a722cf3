// One process of a test under mpirun; tests/e2e/mpi_e2e.py starts it and reads what it prints.
//
//   mpi_ranks equal          every call on shards and on stages; sums against those added up here
//   mpi_ranks agree          rank 1 has another model
//   mpi_ranks grid           a layout for another number of ranks
//   mpi_ranks commands       rank 0 sends bytes, the others send them back
//   mpi_ranks break FAULT    sums until the fault (parallel/fault.h) has broken the group
//   mpi_ranks idle           rank 1 dies while rank 0 waits for its answer
//
// Prints "rank R: ..." on standard output; status 0 unless the test failed.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "device/create_device.h"
#include "parallel/fault.h"
#include "parallel/mpi/mpi_world.h"
#include "parallel/rank_rig.h"
#include "parallel/self_test.h"

namespace evener::parallel {
namespace {

using device::Tensor;
using namespace std::chrono_literals;

constexpr CommOptions kOptions{
    .deadline = 2000ms, .names = {}, .one_shot_bytes = 400, .piece_bytes = 1000};

Error wrong(std::string why) {
  return {
      .code = Code::internal, .doing = "test", .where = "", .why = std::move(why), .remedy = ""};
}

// As ranks that are threads are tested.
Status compare_sums(RankComms& comms, size_t num_ranks) {
  RankRig here;
  size_t seed = 0;
  for (const size_t cols : {size_t{1}, size_t{99}, size_t{101}, size_t{5000}}) {
    for (const size_t gap : {size_t{0}, size_t{3}}) {
      std::vector<std::vector<float>> terms;
      for (size_t rank = 0; rank < num_ranks; ++rank) {
        terms.push_back(random_values(3 * cols, ++seed));
      }
      const Tensor x = here.put(3, cols, terms[comms.rank], gap);
      comms.shards->all_reduce(here.device(), x);
      RETURN_IF_ERROR(comms.status());
      if (!same_bits(here.values(x), sum_of(terms))) return wrong("other bits");
      if (!here.gaps_are_whole(x)) return wrong("written between the rows");
    }
  }
  return {};
}

Status run_equal(MpiWorld& world) {
  ASSIGN_OR_RETURN(RankComms comms,
                   world.connect({.num_stages = 1, .num_shards = world.size()}, kOptions));
  RETURN_IF_ERROR(compare_sums(comms, world.size()));
  RankRig here;
  RETURN_IF_ERROR(self_test(comms, here.device(), kOptions));
  // What waits for all ranks comes before one of them lets go of its comms.
  return world.agree({{"end", ""}});
}

Status run_stages(MpiWorld& world) {
  ASSIGN_OR_RETURN(RankComms comms,
                   world.connect({.num_stages = world.size(), .num_shards = 1}, kOptions));
  RankRig here;
  RETURN_IF_ERROR(self_test(comms, here.device(), kOptions));
  return world.agree({{"end", ""}});
}

Status run_agree(MpiWorld& world) {
  RETURN_IF_ERROR(world.agree({{"version", "1"}, {"model", "abc"}}));
  const Status status =
      world.agree({{"version", "1"}, {"model", world.rank() == 1 ? "xyz\n" : "abc"}});
  if (status) return wrong("no difference seen");
  fmt::print("rank {}: {}\n", world.rank(), to_string(status.error()));
  return {};
}

Status run_grid(MpiWorld& world) {
  const auto comms = world.connect({.num_stages = 1, .num_shards = world.size() + 1}, kOptions);
  if (comms) return wrong("connected");
  fmt::print("rank {}: {}\n", world.rank(), to_string(comms.error()));
  return {};
}

Status exchange_bytes(MpiWorld& world) {
  const std::vector<std::byte> own(3 * world.rank(), std::byte(world.rank()));
  ASSIGN_OR_RETURN(const auto all, world.exchange(own));
  for (size_t rank = 0; rank < world.size(); ++rank) {
    if (all[rank] != MpiWorld::Bytes(3 * rank, std::byte(rank)))
      return wrong("exchanged otherwise");
  }
  return {};
}

Status run_commands(MpiWorld& world) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4000}, size_t{9} << 20}) {
    const std::vector<std::byte> bytes(size, std::byte(size % 251));
    for (size_t peer = 1; peer < world.size(); ++peer) {
      if (world.rank() == 0) RETURN_IF_ERROR(world.send_bytes(peer, bytes));
      if (world.rank() != peer) continue;
      ASSIGN_OR_RETURN(const auto received, world.receive_bytes(0));
      RETURN_IF_ERROR(world.send_bytes(0, received));
    }
    for (size_t peer = 1; peer < world.size() && world.rank() == 0; ++peer) {
      ASSIGN_OR_RETURN(const auto received, world.receive_bytes(peer));
      if (received != bytes) return wrong("other bytes");
    }
  }
  const std::vector<std::byte> large(MpiWorld::kBytesMax + 1);
  if (world.send_bytes((world.rank() + 1) % world.size(), large)) return wrong("no limit");
  return exchange_bytes(world);
}

Status run_break(MpiWorld& world, std::string_view text) {
  ASSIGN_OR_RETURN(const FaultPlan plan, parse_fault(text));
  ASSIGN_OR_RETURN(RankComms comms,
                   world.connect({.num_stages = 1, .num_shards = world.size()}, kOptions));
  const auto gate = std::make_shared<HangGate>();
  inject_fault(comms, plan, gate);
  // A rank that hangs wakes up when the world is broken, later than the others.
  std::thread opener([&] {
    while (world.status()) std::this_thread::yield();
    gate->open();
  });
  RankRig here;
  const Tensor x = here.empty(1, 300);
  auto last = std::chrono::steady_clock::now();
  while (comms.status()) {
    here.device().write(std::vector<float>(300, 1), x);
    comms.shards->all_reduce(here.device(), x);
    if (comms.status()) last = std::chrono::steady_clock::now();
    comms.shards->verify_same(here.device(), x);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - last;
  fmt::print("rank {} after {:.2f} s: {}\n", world.rank(), took.count(),
             to_string(comms.status().error()));
  std::fflush(stdout);
  opener.join();
  return {};
}

Status run_idle(MpiWorld& world) {
  if (world.rank() == 1) std::raise(SIGKILL);
  const auto began = std::chrono::steady_clock::now();
  const auto answer = world.receive_bytes(world.rank() == 0 ? 1 : 0);
  if (answer) return wrong("an answer");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("rank {} after {:.2f} s: {}\n", world.rank(), took.count(), to_string(answer.error()));
  std::fflush(stdout);
  return {};
}

Status run(const std::vector<std::string_view>& arguments) {
  if (!MpiWorld::launched()) return wrong("start it by mpirun");
  ASSIGN_OR_RETURN(const auto world, MpiWorld::join(kOptions, "cpu:0"));
  if (arguments[0] == "equal") {
    RETURN_IF_ERROR(run_equal(*world));
    RETURN_IF_ERROR(world->agree({{"one ended", "no"}}));
    fmt::print("rank {}: equal as {} of {}\n", world->rank(), world->name(world->rank()),
               world->size());
    return {};
  }
  if (arguments[0] == "stages") return run_stages(*world);
  if (arguments[0] == "agree") return run_agree(*world);
  if (arguments[0] == "grid") return run_grid(*world);
  if (arguments[0] == "commands") return run_commands(*world);
  if (arguments[0] == "idle") return run_idle(*world);
  if (arguments[0] == "break" && arguments.size() > 1) return run_break(*world, arguments[1]);
  return wrong("no such scenario");
}

}  // namespace
}  // namespace evener::parallel

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return 2;
  if (const auto done = evener::parallel::run(arguments); !done) {
    fmt::print(stderr, "mpi_ranks: {}\n", to_string(done.error()));
    return 1;
  }
  return 0;
}
