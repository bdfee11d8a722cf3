#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "parallel/call_shape.h"
#include "parallel/direct_link.h"
#include "parallel/thread_grid.h"

namespace evener::parallel {

// Collective calls run in rounds, one for each piece of a tensor, that all members number alike.
// What a member has done last: behind a store of it the others may read what it says.
enum class Phase : uint64_t { posted, reduced, done };
inline constexpr uint64_t progress_at(uint64_t round, Phase phase) {
  return 3 * round + uint64_t(phase);
}
inline constexpr uint64_t kFirstRound = 2;  // the one before is done from the start

// What a member of a group shows the others. Shapes and slots are those of even and odd rounds: a
// member fills one for a round when all others are done with the round before the last.
struct alignas(64) Seat {
  std::atomic<uint64_t> progress = progress_at(kFirstRound - 1, Phase::done);
  std::array<CallShape, 2> shapes;
};

// Up to two tensors on the way from one member to another.
struct Mailbox {
  struct Message {
    CallShape shape;
    bool is_direct = false;  // it lies in the link's slot of the same number
    std::unique_ptr<float[]> values;
    size_t room = 0;  // of values, in floats
  };
  alignas(64) std::atomic<uint64_t> sent = 0;
  alignas(64) std::atomic<uint64_t> taken = 0;
  std::array<Message, 2> messages;
  size_t slot_of(const Message& message) const { return size_t(&message - messages.data()); }

  std::shared_ptr<device::PeerLink> link = {};  // null: all goes through the host
};
static_assert(std::tuple_size_v<decltype(Mailbox::messages)> == device::PeerLink::kNumSlots);

// Memory through which the ranks of a group of threads reach each other.
struct ThreadGroup {
  ThreadGroup(std::shared_ptr<ThreadGrid> group_grid, std::vector<size_t> group_members);

  Mailbox& mailbox(size_t from, size_t to) { return mailboxes[from * members.size() + to]; }

  // Does nothing unless both ends are members.
  void add(const DirectLink& link);

  // For the sender: the next message to fill, once there is room, and then to post. For the
  // receiver: the first one, once it is there, and then to take. Null once the grid is broken.
  Mailbox::Message* room(size_t from, size_t to, const Call& call);
  void post(size_t from, size_t to);
  const Mailbox::Message* first(size_t from, size_t to, const Call& call);
  void take(size_t from, size_t to);

  std::shared_ptr<ThreadGrid> grid;
  std::vector<size_t> members;  // their numbers in the grid
  std::vector<Seat> seats;
  std::vector<std::array<std::unique_ptr<float[]>, 2>> slots;  // piece_bytes each
  std::vector<Mailbox> mailboxes;
};

}  // namespace evener::parallel
