#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bench/client.h"

// The two shapes of load. Source: reference/serving/bench.md, 4.

namespace evener::bench {

// The next request of user `user`, or none: that user is done. On the caller's thread, for making a
// long prompt takes a while; after on_record of the user's last request.
using NextPlan = std::function<std::optional<RequestPlan>(uint32_t user)>;
using OnRecord = std::function<void(RequestRecord)>;  // on the client's thread

struct LoadResult {
  Nanoseconds began{0};
  Nanoseconds ended{0};
  // Closed loop: until the first user was done, for then there are fewer than asked for. Open
  // loop: until the last was sent.
  double mean_in_flight = 0;
  uint64_t num_sent = 0;     // those that reached a connection
  uint64_t num_refused = 0;  // open loop: not sent because too many were in flight
  bool interrupted = false;
};

// `num_users` virtual users, each sends its next request when the last has ended, a quarter of a
// second later if there was no server to take it. Ends when all users are done, or `stop` is set
// (running requests are cancelled then). The first plans of all users are made before the first is
// sent.
LoadResult run_closed_loop(Client& client, uint32_t num_users, const NextPlan& next,
                           const OnRecord& on_record, const std::atomic<bool>& stop);

// Sends plan i at `begin + arrivals[i]`, whatever has come back; `begin` is when the first plan is
// made. More than `max_in_flight` at a time are not sent but counted. `plan` is called on the
// caller's thread, ahead of the time.
struct OpenLoop {
  std::vector<Nanoseconds> arrivals;  // rising
  uint32_t max_in_flight = 1024;
};
LoadResult run_open_loop(Client& client, const OpenLoop& load,
                         const std::function<RequestPlan(uint64_t index)>& plan,
                         const OnRecord& on_record, const std::atomic<bool>& stop);

// Gaps of a gamma distribution of shape `burstiness` (1: Poisson; below: bursty; infinite: even).
// None for a rate or burstiness that is not above 0; at most kNumArrivalsMax.
inline constexpr size_t kNumArrivalsMax = 10'000'000;
struct Arrivals {
  double requests_per_s = 1;
  double burstiness = 1;
  uint64_t seed = 0;
};
std::vector<Nanoseconds> arrivals(const Arrivals& arrivals, std::chrono::duration<double> window);

}  // namespace evener::bench
