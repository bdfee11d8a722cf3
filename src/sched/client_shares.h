#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "sched/virtual_time.h"

namespace evener::sched {

using ClientId = uint64_t;

// Who of the clients has had least. Deficit round robin with rounds as short as one step: what a
// step will cost is only known afterwards, so each client is charged what it was served, and whose
// deficit against the others is largest is next. Clients that always have work are so never farther
// apart than one service.
//
// Idling saves nothing up: who comes with nothing running or waiting begins where the least served
// of the others stands. Nor does it wash a debt away: who had more than all others finds it so on
// return, until they have caught up or all have gone.
class ClientShares {
 public:
  // One sequence more, and one less, of the client's is in the house.
  void enter(ClientId client);
  void leave(ClientId client);

  // One sequence more, and one less, of the client's holds a place.
  void take_place(ClientId client) { ++clients_.at(client).num_places; }
  void free_place(ClientId client) { --clients_.at(client).num_places; }

  void charge(ClientId client, Duration service) { clients_.at(client).served += service; }

  Duration served(ClientId client) const { return clients_.at(client).served; }
  size_t num_places(ClientId client) const { return clients_.at(client).num_places; }
  size_t num_known() const { return clients_.size(); }

 private:
  struct Client {
    Duration served{};
    size_t num_sequences = 0;
    size_t num_places = 0;
  };

  void forget_caught_up();

  std::unordered_map<ClientId, Client> clients_;
};

}  // namespace evener::sched
