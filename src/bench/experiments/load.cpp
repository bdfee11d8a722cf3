// load: requests that come on their own, at rising rates, and how many of them are answered within
// the limits. Source: reference/serving/bench.md, 4.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "bench/experiments/arrivals_cell.h"
#include "bench/experiments/lengths.h"
#include "bench/experiments/trace.h"
#include "bench/experiments/users.h"
#include "bench/prompts/text_stream.h"

namespace evener::bench {
namespace {

constexpr std::array kShares = {0.1, 0.25, 0.5, 0.7, 0.85, 1.0, 1.2};  // of the capacity
constexpr double kHeldShare = 0.9;  // of the requests, for a rate to count as held
constexpr uint32_t kUsersUnknown = 16;
// A block of a trace's prompt is 512 tokens; a word is 1.3 tokens or more for every tokenizer seen,
// and a prompt must not become longer than it is to be.
constexpr size_t kWordsPerBlock = 300;

std::string point_of(double rate) { return fmt::format("{:.4g}", rate); }

uint32_t users_for_capacity(const Bench& bench) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(bench.server->facts().max_running.value_or(kUsersUnknown), 1, 256));
}

// Answers a second of as many users as the server runs at a time.
Result<double> measure_capacity(Bench& bench) {
  bench.progress("load, capacity", 0);
  CellRunner cell(bench, {.experiment = "load",
                          .point = "capacity",
                          .target = {{"summary", "capacity"}},
                          .expected = speed_expectations(bench)});
  PromptStock stock(bench, bench.options.concurrency.num_tokens_in);
  const Users users{.num_users = users_for_capacity(bench), .time = bench.options.load.time};
  ASSIGN_OR_RETURN(const auto one_answer, warm_up_users(bench, cell, users.num_users, stock));
  RETURN_IF_ERROR(stock.fill(prompts_for(users, one_answer)));
  cell.flush();
  ASSIGN_OR_RETURN(const LoadResult load, run_users(bench, cell, users, stock));
  const Goodput answered = goodput(cell.requests(), {}, load.ended - load.began);
  cell.value("capacity_requests_per_s", "1/s", answered.requests_per_s);
  RETURN_IF_ERROR(cell.end());
  if (answered.num_good > 0 || bench.stop) return answered.requests_per_s;
  return Error{.code = Code::unavailable,
               .doing = "measure load",
               .where = bench.client->target().url,
               .why = "no request was answered while its capacity was measured",
               .remedy = "the findings of cell " + cell.key() + " say why"};
}

Result<std::vector<double>> rates_of(Bench& bench) {
  std::vector<double> rates = bench.options.load.rates;
  if (rates.empty()) {
    ASSIGN_OR_RETURN(const double capacity, measure_capacity(bench));
    for (const double share : kShares) rates.push_back(share * capacity);
  }
  std::ranges::sort(rates);
  if (bench.stop || rates.front() > 0) return rates;
  return Error{.code = Code::invalid_argument,
               .doing = "measure load",
               .where = fmt::format("{} requests a second", rates.front()),
               .why = "a rate is above 0",
               .remedy = {}};
}

Result<ArrivalsResult> measure_rate(Bench& bench, double rate, uint32_t round) {
  const auto& options = bench.options.load;
  const uint64_t num_tokens = bench.options.concurrency.num_tokens_in;
  ArrivalsPlan plan;
  plan.point = point_of(rate);
  plan.round = round;
  plan.target = {{"requests_per_s", point_of(rate)},
                 {"burstiness", fmt::format("{:g}", options.burstiness)}};
  plan.arrivals = arrivals({.requests_per_s = rate,
                            .burstiness = options.burstiness,
                            .seed = bench.options.seed + round},
                           options.time);
  plan.plan = [&bench, num_tokens](uint64_t index) -> Result<RequestPlan> {
    ASSIGN_OR_RETURN(std::string message, bench.prompts->cold(text_kind(bench), num_tokens));
    return speed_request(bench, fmt::format("request {}", index + 1), std::move(message),
                         num_tokens);
  };
  return measure_arrivals(bench, std::move(plan));
}

// What the valid rounds have shown of one rate.
struct Held {
  uint32_t num_rounds = 0;
  uint32_t num_held = 0;
  double good_requests_per_s = 0;  // sum over rounds

  void add(const ArrivalsResult& result) {
    ++num_rounds;
    good_requests_per_s += result.good.requests_per_s;
    if (!result.overloaded && result.good_share >= kHeldShare) ++num_held;
  }
};
using Rates = std::map<double, Held>;

// The highest rate that most rounds held, if there is one.
Status record_saturation(Bench& bench, const Rates& rates) {
  const auto held = std::find_if(rates.rbegin(), rates.rend(), [](const auto& rate) {
    return 2 * rate.second.num_held > rate.second.num_rounds;
  });
  if (held == rates.rend() || bench.stop) return {};
  Expectations none;
  none.num_samples_min = 0;
  CellRunner cell(bench, {.experiment = "load",
                          .point = "saturation",
                          .target = {{"summary", "saturation"}},
                          .expected = none});
  cell.value("saturation_requests_per_s", "1/s", held->first);
  cell.value("saturation_goodput_requests_per_s", "1/s",
             held->second.good_requests_per_s / held->second.num_rounds);
  return cell.end();
}

Status run_rates(Bench& bench) {
  RETURN_IF_ERROR(check_lengths(bench, "load", std::array{bench.options.concurrency.num_tokens_in},
                                bench.options.num_tokens_out));
  ASSIGN_OR_RETURN(const std::vector<double> rates, rates_of(bench));
  const uint32_t num_rounds = bench.options.num_rounds;
  Rates seen;
  size_t num_done = 0;
  for (uint32_t round = 1; round <= num_rounds; ++round) {
    for (const double rate : rates) {
      if (bench.stop) return {};
      bench.progress(
          fmt::format("load, {} requests a second, round {} of {}", point_of(rate), round,
                      num_rounds),
          static_cast<double>(num_done++) / static_cast<double>(rates.size() * num_rounds));
      ASSIGN_OR_RETURN(const ArrivalsResult result, measure_rate(bench, rate, round));
      if (result.is_valid) seen[rate].add(result);
      if (result.overloaded) break;  // higher rates would only show longer queues
    }
    num_done = rates.size() * round;
  }
  return record_saturation(bench, seen);
}

// What requests of equal leading ids share.
std::string text_of_blocks(const std::vector<uint64_t>& blocks, uint64_t seed) {
  std::string text;
  for (const uint64_t block : blocks) {
    TextStream stream(TextKind::prose, seed ^ (block * 0x9E3779B97F4A7C15));
    text += stream.first(kWordsPerBlock);
    text += '\n';
  }
  return text;
}

// All blocks but the last: that is where a prompt ends, and nobody else's text goes on.
Result<RequestPlan> plan_of(Bench& bench, const TraceRequest& request, uint64_t index) {
  std::vector<uint64_t> shared = request.blocks;
  if (!shared.empty()) shared.pop_back();
  ASSIGN_OR_RETURN(std::string message,
                   bench.prompts->after(text_of_blocks(shared, bench.options.seed), TextKind::prose,
                                        request.num_tokens_in));
  RequestPlan plan = speed_request(bench, fmt::format("request {}", index + 1), std::move(message),
                                   request.num_tokens_in);
  plan.max_tokens = request.num_tokens_out;
  return plan;
}

Status check_fits(const Bench& bench, const std::vector<TraceRequest>& trace) {
  if (!bench.server->facts().context_tokens) return {};
  for (size_t i = 0; i < trace.size(); ++i) {
    const uint64_t longest = prompt_tokens_max(bench, trace[i].num_tokens_out);
    if (trace[i].num_tokens_in <= longest) continue;
    return Error{.code = Code::invalid_argument,
                 .doing = "replay the trace",
                 .where = fmt::format("{}, request {}", bench.options.load.trace.string(), i + 1),
                 .why = fmt::format("{} tokens and {} of an answer are more than the server takes",
                                    trace[i].num_tokens_in, trace[i].num_tokens_out),
                 .remedy = "cut the trace, or give the server a longer context"};
  }
  return {};
}

Status run_trace(Bench& bench) {
  const auto& path = bench.options.load.trace;
  ASSIGN_OR_RETURN(const std::vector<TraceRequest> trace, read_trace(path));
  RETURN_IF_ERROR(check_fits(bench, trace));
  for (uint32_t round = 1; round <= bench.options.num_rounds && !bench.stop; ++round) {
    bench.progress(fmt::format("load, trace, round {} of {}", round, bench.options.num_rounds),
                   static_cast<double>(round - 1) / bench.options.num_rounds);
    ArrivalsPlan plan;
    plan.point = "trace";
    plan.round = round;
    plan.target = {{"trace", path.filename().string()}};
    plan.cold = false;  // what its requests share is meant to be found again
    for (const TraceRequest& request : trace) plan.arrivals.push_back(request.at);
    plan.plan = [&](uint64_t index) { return plan_of(bench, trace[index], index); };
    RETURN_IF_ERROR(measure_arrivals(bench, std::move(plan)));
  }
  return {};
}

Status run(Bench& bench) {
  return bench.options.load.trace.empty() ? run_rates(bench) : run_trace(bench);
}

std::chrono::duration<double> expected_time(const Bench& bench, const Speed& speed) {
  const auto& options = bench.options.load;
  const auto one =
      speed.time(bench.options.concurrency.num_tokens_in, bench.options.num_tokens_out);
  const size_t num_rates = options.rates.empty() ? kShares.size() : options.rates.size();
  const auto capacity =
      options.rates.empty() ? options.time + 2 * one : std::chrono::duration<double>(0);
  return capacity +
         static_cast<double>(num_rates) * bench.options.num_rounds * (options.time + one);
}

}  // namespace

extern const Experiment load_experiment;
const Experiment load_experiment = {
    .name = "load",
    .summary = "Requests that come on their own: answers within limits against the rate",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
