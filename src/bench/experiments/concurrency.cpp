// concurrency: users who ask without a pause, more and more of them. Gives the capacity of a
// server; what waiting feels like under arrivals of their own is for load.
// Source: reference/serving/bench.md, 4.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "bench/experiments/lengths.h"
#include "bench/experiments/users.h"

namespace evener::bench {
namespace {

constexpr uint64_t kUsersMax = 4096;
constexpr uint64_t kRunningUnknown = 16;

// Powers of two up to what the server runs at a time, and that.
std::vector<uint64_t> levels_of(const Bench& bench) {
  if (!bench.options.concurrency.levels.empty()) return bench.options.concurrency.levels;
  const uint64_t most =
      std::clamp<uint64_t>(bench.server->facts().max_running.value_or(kRunningUnknown), 1, 256);
  std::vector<uint64_t> levels;
  for (uint64_t level = 1; level < most; level *= 2) levels.push_back(level);
  levels.push_back(most);
  return levels;
}

Status check_levels(const std::vector<uint64_t>& levels) {
  for (const uint64_t level : levels) {
    if (level >= 1 && level <= kUsersMax) continue;
    return Error{.code = Code::invalid_argument,
                 .doing = "measure concurrency",
                 .where = fmt::format("{} users", level),
                 .why = fmt::format("there can be 1 to {}", kUsersMax),
                 .remedy = {}};
  }
  return {};
}

// What the warm-up of a level took, for the rounds after it.
using AnswerTimes = std::map<uint64_t, std::chrono::duration<double>>;

Status measure(Bench& bench, uint64_t level, uint32_t round, AnswerTimes& answer_times) {
  const auto& options = bench.options.concurrency;
  CellRunner cell(bench, {.experiment = "concurrency",
                          .point = std::to_string(level),
                          .round = round,
                          .target = {{"num_users", std::to_string(level)},
                                     {"num_tokens_in", std::to_string(options.num_tokens_in)}},
                          .expected = speed_expectations(bench)});
  PromptStock stock(bench, options.num_tokens_in);
  const Users users{.num_users = static_cast<uint32_t>(level), .time = options.time};
  if (round == 1) {
    ASSIGN_OR_RETURN(answer_times[level], warm_up_users(bench, cell, users.num_users, stock));
  }
  RETURN_IF_ERROR(stock.fill(prompts_for(users, answer_times[level])));
  cell.flush();
  RETURN_IF_ERROR(run_users(bench, cell, users, stock));
  return cell.end();
}

Status run(Bench& bench) {
  std::vector<uint64_t> levels = levels_of(bench);
  RETURN_IF_ERROR(check_levels(levels));
  RETURN_IF_ERROR(check_lengths(bench, "concurrency",
                                std::array{bench.options.concurrency.num_tokens_in},
                                bench.options.num_tokens_out));
  const uint32_t num_rounds = bench.options.num_rounds;
  AnswerTimes answer_times;
  size_t num_done = 0;
  for (uint32_t round = 1; round <= num_rounds; ++round) {
    for (const uint64_t level : levels) {
      if (bench.stop) return {};
      bench.progress(
          fmt::format("concurrency, {} users, round {} of {}", level, round, num_rounds),
          static_cast<double>(num_done++) / static_cast<double>(levels.size() * num_rounds));
      RETURN_IF_ERROR(measure(bench, level, round, answer_times));
    }
    std::ranges::reverse(levels);
  }
  return {};
}

std::chrono::duration<double> expected_time(const Bench& bench, const Speed& speed) {
  const auto& options = bench.options.concurrency;
  const auto one = speed.time(options.num_tokens_in, bench.options.num_tokens_out);
  const auto num_levels = static_cast<double>(levels_of(bench).size());
  return num_levels * (bench.options.num_rounds * (options.time + one) + one + bench.options.idle);
}

}  // namespace

extern const Experiment concurrency_experiment;
const Experiment concurrency_experiment = {
    .name = "concurrency",
    .summary = "Throughput and speed of each answer against the number of users",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
