#include "bench/experiments/users.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace evener::bench {
namespace {

constexpr double kPromptsMax = 4000;

// One plan after the other from a stock. What goes wrong with it ends the loop.
class Plans {
 public:
  Plans(const CellRunner& cell, PromptStock& stock) : cell_(cell), stock_(stock) {}

  std::optional<RequestPlan> next(uint32_t user, bool excluded) {
    if (!status_) return std::nullopt;
    auto plan = stock_.take(excluded ? "warm-up" : fmt::format("user {}", user + 1));
    if (!plan) {
      status_ = plan.error();
      return std::nullopt;
    }
    plan->excluded = excluded;
    return cell_.in_cell(*std::move(plan));
  }
  Status status() const { return status_; }

 private:
  const CellRunner& cell_;
  PromptStock& stock_;
  Status status_;
};

}  // namespace

Result<std::string> PromptStock::make() const {
  return bench_.prompts->cold(text_kind(bench_), num_tokens_);
}

Status PromptStock::fill(size_t num_prompts) {
  while (messages_.size() < num_prompts && !bench_.stop) {
    ASSIGN_OR_RETURN(std::string message, make());
    messages_.push_back(std::move(message));
  }
  return {};
}

Result<RequestPlan> PromptStock::take(const std::string& label) {
  std::string message;
  if (messages_.empty()) {
    ASSIGN_OR_RETURN(message, make());
  } else {
    message = std::move(messages_.back());
    messages_.pop_back();
  }
  return speed_request(bench_, label, std::move(message), num_tokens_);
}

Result<LoadResult> run_users(Bench& bench, CellRunner& cell, const Users& users,
                             PromptStock& stock) {
  Plans plans(cell, stock);
  std::vector<bool> has_asked(users.num_users, false);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(users.time);
  const NextPlan next = [&](uint32_t user) -> std::optional<RequestPlan> {
    if (has_asked[user] && Clock::now() >= end) return std::nullopt;
    has_asked[user] = true;
    return plans.next(user, false);
  };
  const OnRecord keep = [&cell](RequestRecord record) { cell.keep(std::move(record)); };
  const LoadResult load = run_closed_loop(*bench.client, users.num_users, next, keep, bench.stop);
  RETURN_IF_ERROR(plans.status());
  cell.expected().in_flight_wanted = users.num_users;
  cell.expected().in_flight_seen = load.mean_in_flight;
  return load;
}

size_t prompts_for(const Users& users, std::chrono::duration<double> one_answer) {
  const double turns = users.time / std::max(one_answer, std::chrono::duration<double>(0.001)) + 1;
  return static_cast<size_t>(std::min(users.num_users * turns, kPromptsMax));
}

Result<std::chrono::duration<double>> warm_up_users(Bench& bench, CellRunner& cell,
                                                    uint32_t num_users, PromptStock& stock) {
  RETURN_IF_ERROR(stock.fill(num_users));
  Plans plans(cell, stock);
  std::vector<bool> has_asked(num_users, false);
  const NextPlan next = [&](uint32_t user) -> std::optional<RequestPlan> {
    if (has_asked[user]) return std::nullopt;
    has_asked[user] = true;
    return plans.next(user, true);
  };
  const OnRecord keep = [&cell](RequestRecord record) { cell.keep(std::move(record)); };
  const LoadResult load = run_closed_loop(*bench.client, num_users, next, keep, bench.stop);
  RETURN_IF_ERROR(plans.status());
  wait(bench, bench.options.idle);
  return load.ended - load.began;
}

}  // namespace evener::bench
