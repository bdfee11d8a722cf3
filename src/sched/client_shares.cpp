#include "sched/client_shares.h"

#include <algorithm>
#include <optional>

namespace evener::sched {

void ClientShares::enter(ClientId client) {
  forget_caught_up();
  std::optional<Duration> least;
  for (const auto& [id, other] : clients_) {
    if (other.num_sequences == 0) continue;
    least = least ? std::min(*least, other.served) : other.served;
  }
  Client& entering = clients_[client];
  if (entering.num_sequences++ == 0 && least) entering.served = std::max(entering.served, *least);
}

void ClientShares::leave(ClientId client) {
  --clients_.at(client).num_sequences;
  forget_caught_up();
}

// Drops those who are gone and would be treated as strangers if they came back.
void ClientShares::forget_caught_up() {
  auto least = Duration::max();
  for (const auto& [id, client] : clients_) {
    if (client.num_sequences > 0) least = std::min(least, client.served);
  }
  std::erase_if(clients_, [least](const auto& entry) {
    return entry.second.num_sequences == 0 && entry.second.served <= least;
  });
}

}  // namespace evener::sched
