// sweep: time to first token, prefill and decode rates against the length of the prompt.
// Source: reference/serving/bench.md, 3 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/cell_runner.h"
#include "bench/experiments/lengths.h"

namespace evener::bench {
namespace {

constexpr uint64_t kShortest = 128;
constexpr uint64_t kShortestOfLongContexts = 1024;
constexpr uint64_t kLongContext = 8192;

// Powers of two up to the longest prompt that fits, and that one.
std::vector<uint64_t> lengths_for(uint64_t longest) {
  std::vector<uint64_t> lengths;
  for (uint64_t length = longest >= kLongContext ? kShortestOfLongContexts : kShortest;
       length < longest; length *= 2) {
    lengths.push_back(length);
  }
  if (longest > 0) lengths.push_back(longest);
  return lengths;
}

std::vector<uint64_t> lengths_of(const Bench& bench) {
  std::vector<uint64_t> lengths = bench.options.sweep.lengths;
  if (lengths.empty())
    lengths = lengths_for(prompt_tokens_max(bench, bench.options.num_tokens_out));
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

Result<RequestPlan> plan_of(const Bench& bench, uint64_t length) {
  ASSIGN_OR_RETURN(std::string message, bench.prompts->cold(text_kind(bench), length));
  return speed_request(bench, "sweep", std::move(message), length);
}

Status measure(Bench& bench, uint64_t length, uint32_t round) {
  CellRunner cell(bench, {.experiment = "sweep",
                          .point = std::to_string(length),
                          .round = round,
                          .target = {{"num_tokens_in", std::to_string(length)}},
                          .expected = speed_expectations(bench)});
  if (round == 1) {
    ASSIGN_OR_RETURN(RequestPlan warm_up, plan_of(bench, length));
    cell.warm_up(std::move(warm_up));
  }
  ASSIGN_OR_RETURN(RequestPlan plan, plan_of(bench, length));
  cell.flush();
  cell.ask(std::move(plan));
  return cell.end();
}

Status run(Bench& bench) {
  std::vector<uint64_t> lengths = lengths_of(bench);
  RETURN_IF_ERROR(check_lengths(bench, "sweep", lengths, bench.options.num_tokens_out));
  const uint32_t num_rounds = bench.options.num_rounds;
  size_t num_done = 0;
  for (uint32_t round = 1; round <= num_rounds; ++round) {
    for (const uint64_t length : lengths) {
      if (bench.stop) return {};
      const size_t num_all = lengths.size() * num_rounds;
      bench.progress(fmt::format("sweep, {} tokens, round {} of {}", length, round, num_rounds),
                     static_cast<double>(num_done++) / static_cast<double>(num_all));
      RETURN_IF_ERROR(measure(bench, length, round));
    }
    // A B, B A: what drifts with time falls on both ends alike.
    std::ranges::reverse(lengths);
  }
  return {};
}

std::chrono::duration<double> expected_time(const Bench& bench, const Speed& speed) {
  std::chrono::duration<double> time{0};
  for (const uint64_t length : lengths_of(bench)) {
    const uint32_t num_requests = bench.options.num_rounds + 1;
    time += num_requests * speed.time(length, bench.options.num_tokens_out) + bench.options.idle;
  }
  return time;
}

}  // namespace

extern const Experiment sweep_experiment;
const Experiment sweep_experiment = {
    .name = "sweep",
    .summary = "Time to first token, prefill and decode rates against the prompt's length",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
