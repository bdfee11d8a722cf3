#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/metrics.h"

namespace evener::bench {

// What a user may ask of the experiments. Each reads its own part; zero or empty means the default
// that fits the server (its context, its running limit).
struct ExperimentOptions {
  uint64_t seed = 1;
  uint32_t num_rounds = 3;
  uint32_t num_tokens_out = 256;
  bool allow_cached = false;                   // do not flush, do not ask for cold prompts
  std::chrono::milliseconds timeout{600'000};  // for one request
  std::chrono::milliseconds idle{2'000};       // after a warm-up

  struct Sweep {
    std::vector<uint64_t> lengths;  // tokens
  } sweep;
  struct Concurrency {
    std::vector<uint64_t> levels;
    uint64_t num_tokens_in = 128;
    std::chrono::duration<double> time{30};  // for a level
  } concurrency;
  struct Load {
    std::vector<double> rates;  // requests per second; empty: shares of the measured capacity
    double burstiness = 1;
    std::chrono::duration<double> time{30};
    Limits limits;
    std::filesystem::path trace;  // JSON lines: timestamp, input_length, output_length, hash_ids
  } load;
  struct Starvation {
    std::vector<uint64_t> attackers;  // prompt tokens
    uint32_t num_tokens_victim = 600;
    std::chrono::duration<double> after{5};  // the victim goes on for so long after the attack
    uint32_t num_victims = 1;
    enum class Variant : uint8_t {
      one,     // one attacker while the victims decode
      two,     // two at once
      stream,  // one after the other until the victims are done
      first,   // the attacker is there before the victims: they queue
    } variant = Variant::one;
  } starvation;
  struct Prefix {
    uint32_t num_sessions = 4;
    uint32_t num_turns = 8;
    uint64_t num_tokens_shared = 512;
    uint64_t num_tokens_new = 64;
  } prefix;
  struct Soak {
    std::chrono::duration<double> time{7200};
    uint32_t num_users = 4;
  } soak;
  struct Quality {
    std::vector<uint64_t> needle_lengths;  // tokens
    uint32_t num_tokens_out_max = 1024;    // of an answer, reasoning and all
    bool run_code = true;
  } quality;
  struct Coldstart {
    std::string command;  // started and stopped by us
    std::string unit;     // of systemd, started and stopped by us
    std::chrono::seconds patience{1800};
    bool drop_page_cache = false;
  } coldstart;
  struct Link {
    std::vector<uint64_t> sizes_bytes;
  } link;
};

}  // namespace evener::bench
