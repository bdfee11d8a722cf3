#pragma once

#include <chrono>
#include <random>
#include <string>
#include <utility>

#include "bench/run.h"

namespace evener::bench {

inline Nanoseconds from_seconds(double seconds) { return Nanoseconds(int64_t(seconds * 1e9)); }

// Puts cells one after the other on the clock of the run.
class RunBuilder {
 public:
  Run run;

  using Target = std::map<std::string, std::string>;

  CellRecord& begin(const std::string& experiment, const Target& target, uint32_t round) {
    std::string key = experiment;
    for (const auto& [name, value] : target) key += "/" + value;
    cell_ = {.key = key + "/" + std::to_string(round),
             .experiment = experiment,
             .target = target,
             .round = round,
             .began = now_,
             .ended = now_};
    return cell_;
  }
  void end(CellState state = CellState::complete) {
    now_ += std::chrono::seconds(1);
    cell_.ended = now_;
    cell_.state = state;
    run.cells.push_back(cell_);
    now_ += std::chrono::milliseconds(500);
  }

  // An answer of `num_out` tokens that starts `start` after `now` and has `rate` tokens a second.
  RequestRecord answer(const std::string& label, uint64_t num_in, uint64_t num_out, double ttft_s,
                       double rate) {
    RequestRecord request;
    request.cell = cell_.key;
    request.label = label;
    request.num_tokens_in_wanted = uint32_t(num_in);
    request.num_tokens_out_wanted = uint32_t(num_out);
    request.sent = now_;
    request.header = now_ + std::chrono::milliseconds(2);
    Nanoseconds at = now_ + from_seconds(ttft_s * noise());
    for (uint64_t i = 0; i < num_out; ++i) {
      request.events.push_back({.at = at, .num_tokens = 1, .num_bytes = 4});
      at += from_seconds(noise() / rate);
    }
    request.ended = request.events.back().at + std::chrono::milliseconds(1);
    request.http_status = 200;
    request.done_seen = true;
    request.finish = Finish::length;
    request.num_tokens_in = num_in;
    request.num_tokens_cached = 0;
    request.num_tokens_out = num_out;
    request.server.queue_ms = 0.4 * noise();
    return request;
  }
  void add(RequestRecord request) {
    if (request.ended > now_) now_ = request.ended;
    run.requests.push_back(std::move(request));
  }
  void add_beside(RequestRecord request, Nanoseconds& latest) {
    latest = std::max(latest, request.ended);
    run.requests.push_back(std::move(request));
  }
  void go_to(Nanoseconds time) { now_ = std::max(now_, time); }
  void value(const std::string& key, const std::string& unit, double value) {
    run.values.push_back({cell_.key, key, unit, value, now_});
    now_ += std::chrono::milliseconds(1);
  }
  void find(Fault fault, Severity severity, const std::string& detail, bool of_cell = true) {
    run.findings.push_back({fault, severity, of_cell ? cell_.key : "", "", detail});
  }

  Nanoseconds now() const { return now_; }
  double noise() { return 1 + 0.06 * (double(random_() % 2001) / 1000 - 1); }

 private:
  Nanoseconds now_ = std::chrono::seconds(2);
  CellRecord cell_;
  std::mt19937 random_{7};
};

}  // namespace evener::bench
