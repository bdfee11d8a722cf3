#include "simulate/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace evener::simulate {
namespace {

using std::chrono::milliseconds;

// Draws a workload piece by piece.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) { workload_.seed = seed; }

  Workload all() {
    draw_machine();
    draw_scheduler();
    draw_faults();
    draw_beginnings();
    const size_t num_requests = between(2, 24);
    for (size_t i = 0; i < num_requests; ++i) draw_request();
    return std::move(workload_);
  }

 private:
  bool chance(double probability) {
    return std::uniform_real_distribution<>()(random_) < probability;
  }
  size_t between(size_t low, size_t high) {  // both included
    return std::uniform_int_distribution<size_t>(low, high)(random_);
  }
  double scaled(double low, double high) {  // evenly by order of magnitude
    return low * std::pow(high / low, std::uniform_real_distribution<>()(random_));
  }
  std::vector<TokenId> tokens(size_t count) {
    std::vector<TokenId> result(count);
    for (TokenId& token : result) token = static_cast<TokenId>(between(1, 50));
    return result;
  }

  void draw_machine() {
    const size_t page_size = size_t{4} << between(0, 4);
    workload_.residency = {.page_size = page_size,
                           .num_pages = between(4, 120),
                           .num_state_slots = 0,
                           .snapshot_interval = page_size * between(1, 8),
                           .reuse = !chance(0.1)};
    if (chance(0.5)) workload_.num_stored_max = chance(0.5) ? between(1, 100) : 10'000;
    workload_.state_pages = static_cast<double>(between(1, 8));
    workload_.table = {.step = scaled(1e-4, 2e-2),
                       .prompt_step = chance(0.5) ? scaled(1e-4, 4e-2) : 0,
                       .prompt_token = scaled(2e-5, 5e-3),
                       .position = scaled(1e-9, 1e-6),
                       .decode_row = scaled(1e-4, 1e-2),
                       .moved_page = scaled(1e-5, 1e-2)};
    if (chance(0.3)) workload_.table.noise = scaled(0.01, 0.3);
    if (chance(0.1)) workload_.table.slow_steps = 0.02;
  }

  void draw_scheduler() {
    sched::SchedulerOptions& options = workload_.scheduler;
    options.max_sequences = between(1, 8);
    options.prefill_chunk = between(1, 400);
    options.prompt_logit_rows = between(1, 32);
    options.page_size = workload_.residency.page_size;
    options.state_pages = workload_.state_pages;
    options.max_gap = milliseconds(between(20, 500));
    options.decode_share = static_cast<double>(between(0, 9)) / 10;
    options.chunk_min = between(1, 2) * options.page_size;
    options.prefill_deadline = milliseconds(between(200, 5000));
    options.mixed = chance(0.75);
    if (chance(0.3)) options.max_prefill_steps = between(0, 4);
    if (chance(0.15)) options.max_queued = between(0, 6);
    if (chance(0.15)) options.queue_timeout = milliseconds(between(10, 5000));
    if (chance(0.5)) {
      workload_.residency.num_state_slots = options.max_sequences + between(0, 12);
      if (chance(0.2)) workload_.residency.num_state_slots = between(1, options.max_sequences);
    }
  }

  void draw_faults() {
    if (chance(0.2)) workload_.stored_damage = 0.2;
    if (chance(0.15)) workload_.faults.failed_steps = 0.05;
    if (chance(0.1)) workload_.faults.clock_jumps = 0.02;
    cancel_share_ = chance(0.2) ? 0.9 : 0.3;
    spread_ms_ = static_cast<size_t>(scaled(50, 20'000));
  }

  // Texts that several requests begin with: system prompts, documents.
  void draw_beginnings() {
    const size_t num_beginnings = between(1, 4);
    for (size_t i = 0; i < num_beginnings; ++i)
      beginnings_.push_back(tokens(between(0, pool() / 2)));
  }

  size_t pool() const { return workload_.residency.page_size * workload_.residency.num_pages; }

  void draw_request() {
    Request request;
    const bool continues = !workload_.requests.empty() && chance(0.45);
    if (continues) {
      continue_chat(request);
    } else {
      begin(request);
    }
    request.num_new_tokens_max = chance(0.1) ? 0 : between(1, std::max<size_t>(pool() / 4, 1));
    request.prompt_logits = chance(0.05);
    request.priority = static_cast<int>(between(0, 2)) - 1;
    if (chance(cancel_share_)) request.cancelled_after = milliseconds(between(0, spread_ms_));
    workload_.requests.push_back(std::move(request));
  }

  void begin(Request& request) {
    request.prompt = beginnings_[between(0, beginnings_.size() - 1)];
    request.message_ends = {request.prompt.size()};
    const size_t num_own = chance(0.3) ? between(0, pool()) : between(0, 60);
    append(request, tokens(std::max<size_t>(num_own, request.prompt.empty() ? 1 : 0)));
    request.client = between(1, 3);
    request.salt = between(0, 9) == 0 ? 1 : 0;
    request.session = chance(0.5) ? workload_.requests.size() + 1 : 0;
    request.arrives = milliseconds(between(0, spread_ms_));
  }

  void continue_chat(Request& request) {
    const size_t number = between(1, workload_.requests.size());
    const Request& before = workload_.requests[number - 1];
    const History history = history_of(before, workload_.is_recurrent());
    request.prompt.assign(history.tokens().begin(), history.tokens().end());
    request.message_ends = before.message_ends;
    append(request, tokens(between(1, 60)));
    request.client = before.client;
    request.salt = before.salt;
    request.session = before.session;
    request.follows = number;
    request.arrives = milliseconds(between(0, 500));
  }

  static void append(Request& request, const std::vector<TokenId>& message) {
    request.prompt.insert(request.prompt.end(), message.begin(), message.end());
    request.message_ends.push_back(request.prompt.size());
  }

  std::mt19937 random_;
  Workload workload_;
  std::vector<std::vector<TokenId>> beginnings_;
  double cancel_share_ = 0;
  size_t spread_ms_ = 0;
};

}  // namespace

History history_of(const Request& request, bool is_recurrent) {
  History history(request.salt, is_recurrent);
  history.append(request.prompt);
  for (size_t i = 0; i < request.num_new_tokens_max; ++i) {
    const TokenId token = history.next_token();
    history.append(token);
    if (token == kEndToken && !request.ignores_end) break;
  }
  return history;
}

Workload random_workload(unsigned seed, size_t num_stages) {
  Workload workload = Draw(seed).all();
  workload.scheduler.depth = num_stages;
  std::mt19937 random(seed);
  workload.stages.clear();
  for (size_t i = 0; i < num_stages; ++i) {
    workload.stages.push_back(std::uniform_real_distribution<>(0.5, 1.5)(random));
  }
  const double sum = std::accumulate(workload.stages.begin(), workload.stages.end(), 0.0);
  for (double& stage : workload.stages) stage /= sum;
  return workload;
}

std::string to_string(const Workload& workload) {
  const sched::SchedulerOptions& options = workload.scheduler;
  const cache::ResidencyOptions& residency = workload.residency;
  std::string text = fmt::format(
      "seed {}: {} pages of {}, {} state slots, snapshots every {}, {}, {} entries stored\n"
      "  {} places, chunks of {} and at least {}, gap {:.3f} s, share {}, deadline {:.3f} s, {}",
      workload.seed, residency.num_pages, residency.page_size, residency.num_state_slots,
      residency.snapshot_interval, residency.reuse ? "reuse" : "no reuse", workload.num_stored_max,
      options.max_sequences, options.prefill_chunk, options.chunk_min,
      sched::seconds(options.max_gap), options.decode_share,
      sched::seconds(options.prefill_deadline), options.mixed ? "mixed" : "not mixed");
  if (options.max_prefill_steps) text += fmt::format(", N = {}", *options.max_prefill_steps);
  if (workload.stages.size() > 1) {
    text += fmt::format(", stages of {:.2f}", fmt::join(workload.stages, " : "));
  }
  const StepTable& table = workload.table;
  text += fmt::format(
      "\n  a step {:.2g} s, with prompts {:.2g} more, prompt token {:.2g}, position {:.2g}, decode "
      "row {:.2g}, page {:.2g}, "
      "noise {:.2g}, slow {}, failed {}, jumps {}, damage {}\n",
      table.step, table.prompt_step, table.prompt_token, table.position, table.decode_row,
      table.moved_page, table.noise, table.slow_steps, workload.faults.failed_steps,
      workload.faults.clock_jumps, workload.stored_damage);
  for (size_t i = 0; i < workload.requests.size(); ++i) {
    const Request& request = workload.requests[i];
    text += fmt::format("  {}: {:.3f} s{}, {} + {} tokens, client {}, priority {}", i + 1,
                        sched::seconds(request.arrives),
                        request.follows > 0 ? fmt::format(" after {}", request.follows) : "",
                        request.prompt.size(), request.num_new_tokens_max, request.client,
                        request.priority);
    if (request.salt != 0) text += ", other salt";
    if (request.prompt_logits) text += ", all logits";
    if (request.cancelled_after) {
      text += fmt::format(", cancelled after {:.3f} s", sched::seconds(*request.cancelled_after));
    }
    text += "\n";
  }
  return text;
}

}  // namespace evener::simulate
