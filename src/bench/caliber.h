#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The conditions under which figures hold. A number without them is worthless, and two numbers are
// compared only if what must be equal is.
// Source: reference/serving/bench.md, 7 and 9; seed-facts.md, 7.1 and 7.12.

namespace evener::bench {

// Dotted names to plain values: "server.version" -> "0.1.0". An unknown fact is absent, not empty.
//
//   tool.       version, commit of the measuring program
//   server.     kind, version, commit, flags, url_kind (loopback, network), ...
//   model.      id, hash, quantisation, ...
//   engine.     context_tokens, kv_type, pool_tokens, speculation, tensor_parallel, ...
//   host.       facts_hash, cpu, cores, isa, ram_bytes, kernel, swap, ...
//   device.BUS. name, power_cap_w, clock_cap_mhz, link, driver
//   method.     cache, warm_up, length_control, loop, percentile, seed, rounds, client_cpus, ...
//   option.     what the user asked of the experiment
using Caliber = std::map<std::string, std::string>;

enum class CaliberRule : uint8_t {
  must_match,  // else the figures are of different calibers: model, quantisation, host, device
               // caps, method, options
  under_test,  // what a comparison may be about: server kind, version, flags. Printed beside it
  for_readers,
};
CaliberRule caliber_rule(std::string_view name);  // of a name that no rule knows: must_match

// Short, stable digest of all that must match. Where a model's hash is known its id does not count.
std::string caliber_hash(const Caliber& caliber);

struct CaliberDifference {
  std::string name;
  std::string in_a;  // empty: not known there
  std::string in_b;
  CaliberRule rule;
};
// Those that must match first, then in order of their names.
std::vector<CaliberDifference> differences(const Caliber& a, const Caliber& b);

}  // namespace evener::bench
