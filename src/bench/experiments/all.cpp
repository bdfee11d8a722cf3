// all: a suite of every experiment in a small version, for a first look at a server and a machine.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"

namespace evener::bench {
namespace {

constexpr std::chrono::seconds kLevelTime{10};
constexpr std::chrono::seconds kRateTime{15};
constexpr std::chrono::seconds kSoakTime{60};
constexpr uint64_t kLengths[] = {1'024, 8'192, 32'768};

// Those that fit; a server of a short context gets the longest that does.
std::vector<uint64_t> lengths_for(const ServerFacts& server, uint64_t num_tokens_out) {
  const uint64_t longest = prompt_tokens_max(server, num_tokens_out);
  std::vector<uint64_t> lengths;
  for (const uint64_t length : kLengths) {
    if (length <= longest) lengths.push_back(length);
  }
  if (lengths.size() < std::size(kLengths) && longest > 0) lengths.push_back(longest);
  return lengths;
}

// A cold start ends the server that the others measure.
bool is_in_suite(const Experiment& experiment) { return experiment.needs != Needs::address; }

// What one experiment cannot do here is no reason to leave out the others.
bool others_may_go_on(const Error& error) {
  constexpr Code kOfOneExperiment[] = {Code::invalid_argument, Code::unsupported,
                                       Code::limit_exceeded, Code::context_overflow};
  return std::ranges::find(kOfOneExperiment, error.code) != std::end(kOfOneExperiment);
}

Status run(Bench& bench) {
  std::string left_out;
  for (const Experiment* experiment : experiments()) {
    if (!is_in_suite(*experiment) || bench.stop) continue;
    const Status done = experiment->run(bench);
    if (done) continue;
    if (!others_may_go_on(done.error())) return done.error();
    left_out += fmt::format("{}{}: {}", left_out.empty() ? "" : "; ", experiment->name,
                            to_string(done.error()));
  }
  if (left_out.empty()) return {};
  return Error{.code = Code::unsupported,
               .doing = "measure all",
               .where = {},
               .why = left_out,
               .remedy = "the others are measured"};
}

std::chrono::duration<double> expected_time(const Bench& bench, const Speed& speed) {
  std::chrono::duration<double> time{0};
  for (const Experiment* experiment : experiments()) {
    if (!is_in_suite(*experiment) || experiment->expected_time == nullptr) continue;
    time += experiment->expected_time(bench, speed);
  }
  return time;
}

}  // namespace

ExperimentOptions suite_options(const ExperimentOptions& asked, const ServerFacts& server) {
  ExperimentOptions options = asked;
  options.concurrency.time = kLevelTime;
  options.load.time = kRateTime;
  options.soak.time = kSoakTime;
  options.sweep.lengths = lengths_for(server, options.num_tokens_out);
  options.quality.needle_lengths = lengths_for(server, options.quality.num_tokens_out_max);
  options.quality.needle_lengths.resize(std::min<size_t>(1, options.quality.needle_lengths.size()));
  if (!options.sweep.lengths.empty()) options.starvation.attackers = {options.sweep.lengths.back()};
  return options;
}

const Experiment all_experiment = {
    .name = "all",
    .summary = "A small version of every experiment, for a first look",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
