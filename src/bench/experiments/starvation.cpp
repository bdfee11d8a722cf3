// starvation: an answer is being written when a long cold prompt comes. How long does it stand
// still, how often, and is that what the server's chunks explain?
// Source: reference/serving/bench.md, 5.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "bench/experiments/attack.h"
#include "bench/experiments/lengths.h"
#include "bench/experiments/running.h"
#include "bench/experiments/users.h"
#include "bench/metrics.h"

namespace evener::bench {
namespace {

using Variant = ExperimentOptions::Starvation::Variant;

constexpr uint64_t kVictimTokensIn = 64;
constexpr uint32_t kAttackerTokensOut = 4;
constexpr uint64_t kTokensBeforeAttack = 8;
constexpr double kAttackTimesMax = 3;  // contended, against alone, for which the victim lasts
constexpr uint32_t kVictimsMax = 1024;
constexpr uint64_t kStreamTokens = 2048;
constexpr std::array<uint64_t, 3> kAttackers = {8'192, 49'152, 200'000};
constexpr std::chrono::milliseconds kHeadStart{100};  // of an attacker that comes first
constexpr double kLongGapMs = 1000;

const char* word_of(Variant variant) {
  constexpr const char* kWords[] = {"one", "two", "stream", "first"};
  return kWords[static_cast<size_t>(variant)];
}

std::vector<uint64_t> attackers_of(const Bench& bench) {
  const auto& options = bench.options.starvation;
  if (!options.attackers.empty()) return options.attackers;
  const uint64_t longest = prompt_tokens_max(bench, kAttackerTokensOut);
  if (longest == 0) return {};
  if (options.variant == Variant::stream) return {std::min(longest, kStreamTokens)};
  std::vector<uint64_t> attackers;
  for (const uint64_t size : kAttackers) {
    if (size < longest) attackers.push_back(size);
  }
  if (attackers.size() < kAttackers.size()) attackers.push_back(longest);
  return attackers;
}

// What each does with nobody beside it.
struct Alone {
  double attacker_ttft_ms = 0;
  double victim_ttft_ms = 0;
  double victim_tokens_per_s = 0;
  double victim_gap_ms = 0;  // median
};

double figure_of(const RequestRecord& record, std::string_view key) {
  const auto figures = request_figures(record);
  const auto found = figures.find(key);
  return found == figures.end() ? 0 : found->second;
}

// One cell.
class Starvation {
 public:
  Starvation(Bench& bench, uint64_t attacker_tokens, uint32_t round)
      : bench_(bench),
        options_(bench.options.starvation),
        attacker_tokens_(attacker_tokens),
        round_(round),
        attackers_(bench, attacker_tokens),
        victims_(bench, kVictimTokensIn),
        cell_(bench, cell_plan()) {}

  Status measure() {
    ASSIGN_OR_RETURN(const bool known, measure_alone());
    if (known && !bench_.stop) RETURN_IF_ERROR(measure_together());
    return cell_.end();
  }

 private:
  CellPlan cell_plan() const {
    CellPlan plan;
    plan.experiment = "starvation";
    plan.point = std::to_string(attacker_tokens_);
    plan.round = round_;
    plan.target = {{"num_tokens_attacker", std::to_string(attacker_tokens_)},
                   {"variant", word_of(options_.variant)},
                   {"num_victims", std::to_string(options_.num_victims)}};
    plan.expected = speed_expectations(bench_);
    plan.expected.judge_stalls = false;  // they are what is measured
    return plan;
  }

  Result<RequestPlan> attacker(const std::string& label) {
    ASSIGN_OR_RETURN(RequestPlan plan, attackers_.take(label));
    plan.max_tokens = kAttackerTokensOut;
    return plan;
  }
  Result<RequestPlan> victim(const std::string& label, uint32_t num_tokens) {
    ASSIGN_OR_RETURN(RequestPlan plan, victims_.take(label));
    plan.max_tokens = num_tokens;
    return plan;
  }

  // False if one of the two did not answer: nothing can be held against anything.
  Result<bool> measure_alone() {
    if (round_ == 1) {
      ASSIGN_OR_RETURN(RequestPlan warm_up, attacker("warm-up"));
      cell_.warm_up(std::move(warm_up));
    }
    ASSIGN_OR_RETURN(RequestPlan attack, attacker("attacker alone"));
    attack.excluded = true;
    cell_.flush();
    alone_.attacker_ttft_ms = figure_of(cell_.ask(std::move(attack)), "ttft_ms");
    ASSIGN_OR_RETURN(RequestPlan quiet, victim("victim alone", options_.num_tokens_victim));
    quiet.excluded = true;
    const RequestRecord record = cell_.ask(std::move(quiet));
    alone_.victim_ttft_ms = figure_of(record, "ttft_ms");
    alone_.victim_tokens_per_s = figure_of(record, "decode_whole_tokens_per_s");
    std::vector<double> gaps = event_gaps_ms(record);
    std::ranges::sort(gaps);
    if (!gaps.empty()) alone_.victim_gap_ms = percentile(gaps, 0.5);
    cell_.value("attacker_ttft_alone_ms", "ms", alone_.attacker_ttft_ms);
    cell_.value("victim_alone_tokens_per_s", "tokens/s", alone_.victim_tokens_per_s);
    return alone_.attacker_ttft_ms > 0 && alone_.victim_tokens_per_s > 0;
  }

  // So many that the victim still writes some seconds after the attack, within the context.
  uint32_t victim_tokens() const {
    const double seconds = kAttackTimesMax * alone_.attacker_ttft_ms / 1000 * (is_two() ? 2 : 1) +
                           options_.after.count();
    const double wanted = std::max<double>(options_.num_tokens_victim,
                                           std::ceil(alone_.victim_tokens_per_s * seconds));
    const auto most = static_cast<double>(prompt_tokens_max(bench_, kVictimTokensIn));
    return static_cast<uint32_t>(std::max(1.0, std::min(wanted, most)));
  }
  bool is_two() const { return options_.variant == Variant::two; }

  Status measure_together() {
    RETURN_IF_ERROR(attackers_.fill(options_.variant == Variant::stream ? 32 : 2));
    RETURN_IF_ERROR(victims_.fill(options_.num_victims));
    cell_.flush();
    Running running(bench_, cell_);
    std::vector<size_t> attacks;
    if (options_.variant == Variant::first) {
      RETURN_IF_ERROR(start_attacker(running, attacks));
      wait(bench_, kHeadStart);
    }
    std::vector<size_t> victims;
    const uint32_t num_tokens = victim_tokens();
    for (uint32_t i = 0; i < options_.num_victims; ++i) {
      ASSIGN_OR_RETURN(RequestPlan plan,
                       victim(i == 0 ? "victim" : fmt::format("victim {}", i + 1), num_tokens));
      victims.push_back(running.start(std::move(plan)));
    }
    if (options_.variant != Variant::first) {
      for (const size_t index : victims) running.wait_for_tokens(index, kTokensBeforeAttack);
      RETURN_IF_ERROR(attack(running, victims, attacks));
    }
    for (const size_t index : victims) running.wait_for_end(index);
    for (const size_t index : attacks) running.wait_for_end(index);
    if (!bench_.stop && !attacks.empty()) report(running, victims, attacks);
    return {};
  }

  Status start_attacker(Running& running, std::vector<size_t>& attacks) {
    const size_t number = attacks.size() + 1;
    ASSIGN_OR_RETURN(RequestPlan plan,
                     attacker(number == 1 ? "attacker" : fmt::format("attacker {}", number)));
    attacks.push_back(running.start(std::move(plan)));
    return {};
  }

  Status attack(Running& running, const std::vector<size_t>& victims,
                std::vector<size_t>& attacks) {
    RETURN_IF_ERROR(start_attacker(running, attacks));
    if (is_two()) RETURN_IF_ERROR(start_attacker(running, attacks));
    while (options_.variant == Variant::stream && !bench_.stop) {
      running.wait_for_end(attacks.back());
      const bool all_done =
          std::ranges::all_of(victims, [&](size_t index) { return running.has_ended(index); });
      if (all_done) break;
      RETURN_IF_ERROR(start_attacker(running, attacks));
    }
    return {};
  }

  // Nothing if an attacker gave no token.
  std::optional<AttackWindow> window_of(Running& running, const std::vector<size_t>& attacks) {
    AttackWindow window{.began = Nanoseconds::max(), .ended = Nanoseconds::min()};
    for (const size_t index : attacks) {
      const RequestRecord& record = running.wait_for_end(index);
      if (record.events.empty()) return std::nullopt;
      window.began = std::min(window.began, record.sent);
      window.ended = std::max(window.ended, record.events.front().at);
    }
    return window;
  }

  void report(Running& running, const std::vector<size_t>& victims,
              const std::vector<size_t>& attacks) {
    for (const size_t index : attacks) {
      const double ttft = figure_of(running.wait_for_end(index), "ttft_ms");
      if (ttft > 0) cell_.value("attacker_ttft_contended_ms", "ms", ttft);
    }
    const auto window = window_of(running, attacks);
    for (const size_t index : victims) {
      const RequestRecord& record = running.wait_for_end(index);
      if (options_.variant == Variant::first) {
        cell_.value("victim_ttft_alone_ms", "ms", alone_.victim_ttft_ms);
        cell_.value("victim_ttft_queued_ms", "ms", figure_of(record, "ttft_ms"));
      } else if (window) {
        report_victim(record, window_for(record, *window));
      }
    }
  }

  // A stream of attackers outlasts its victims: what comes after their end is no attack on them.
  AttackWindow window_for(const RequestRecord& victim, AttackWindow window) const {
    if (options_.variant == Variant::stream && !victim.events.empty()) {
      window.ended = std::min(window.ended, victim.events.back().at);
    }
    return window;
  }

  void report_victim(const RequestRecord& record, const AttackWindow& window) {
    const AttackFigures figures = attack_figures(record, window);
    if (figures.tokens_per_s) {
      cell_.value("victim_during_tokens_per_s", "tokens/s", *figures.tokens_per_s);
      cell_.value("speed_kept", "", *figures.tokens_per_s / alone_.victim_tokens_per_s);
    }
    cell_.value("gap_attack_max_ms", "ms", figures.gap_max_ms);
    cell_.value("gap_attack_median_ms", "ms", figures.gap_median_ms);
    const bool is_stream = options_.variant == Variant::stream;
    if (!is_stream && !record.events.empty() && record.events.back().at <= window.ended) {
      cell_.finding(Fault::too_few_samples, Severity::warning,
                    "the victim's answer was over before the attacker's first token: its speed "
                    "kept is that of a part of the attack",
                    record.label);
    }
    if (bench_.server->facts().chunk_tokens) compare_with_chunks(record, figures);
  }

  void compare_with_chunks(const RequestRecord& record, const AttackFigures& figures) {
    const uint64_t chunk = *bench_.server->facts().chunk_tokens;
    const ExpectedGaps expected = expected_gaps(attacker_tokens_, chunk, alone_.attacker_ttft_ms);
    const uint64_t seen = num_gaps_like(expected, figures.gaps_ms, alone_.victim_gap_ms);
    cell_.value("chunk_tokens", "tokens", static_cast<double>(chunk));
    cell_.value("num_gaps_expected", "", static_cast<double>(expected.num_gaps));
    cell_.value("gap_expected_ms", "ms", expected.gap_ms);
    cell_.value("num_gaps_observed", "", static_cast<double>(seen));
    const double off = std::abs(static_cast<double>(seen) - static_cast<double>(expected.num_gaps));
    const bool is_simple = options_.variant == Variant::one;
    if (!is_simple || figures.gap_max_ms <= kLongGapMs ||
        off <= std::max(1.0, 0.2 * static_cast<double>(expected.num_gaps))) {
      return;
    }
    cell_.finding(
        Fault::gaps_unexplained, Severity::warning,
        fmt::format("{} long gaps of {:.0f} ms at most; {} tokens in chunks of {} explain "
                    "{} of {:.0f} ms",
                    seen, figures.gap_max_ms, attacker_tokens_, chunk, expected.num_gaps,
                    expected.gap_ms),
        record.label);
  }

  Bench& bench_;
  const ExperimentOptions::Starvation& options_;
  uint64_t attacker_tokens_;
  uint32_t round_;
  PromptStock attackers_;
  PromptStock victims_;
  CellRunner cell_;
  Alone alone_;
};

Status check(const Bench& bench, const std::vector<uint64_t>& attackers) {
  const auto& options = bench.options.starvation;
  RETURN_IF_ERROR(check_lengths(bench, "starvation", attackers, kAttackerTokensOut));
  RETURN_IF_ERROR(
      check_lengths(bench, "starvation", std::array{kVictimTokensIn}, options.num_tokens_victim));
  if (options.num_victims >= 1 && options.num_victims <= kVictimsMax) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "measure starvation",
               .where = fmt::format("{} victims", options.num_victims),
               .why = fmt::format("there can be 1 to {}", kVictimsMax),
               .remedy = {}};
}

Status run(Bench& bench) {
  std::vector<uint64_t> attackers = attackers_of(bench);
  RETURN_IF_ERROR(check(bench, attackers));
  const uint32_t num_rounds = bench.options.num_rounds;
  size_t num_done = 0;
  for (uint32_t round = 1; round <= num_rounds; ++round) {
    for (const uint64_t size : attackers) {
      if (bench.stop) return {};
      bench.progress(
          fmt::format("starvation, {} tokens, round {} of {}", size, round, num_rounds),
          static_cast<double>(num_done++) / static_cast<double>(attackers.size() * num_rounds));
      RETURN_IF_ERROR(Starvation(bench, size, round).measure());
    }
    std::ranges::reverse(attackers);
  }
  return {};
}

std::chrono::duration<double> expected_time(const Bench& bench, const Speed& speed) {
  std::chrono::duration<double> time{0};
  for (const uint64_t size : attackers_of(bench)) {
    const auto attack = speed.time(size, kAttackerTokensOut);
    const auto victim = speed.time(kVictimTokensIn, bench.options.starvation.num_tokens_victim);
    time += bench.options.num_rounds *
            (attack + victim +
             std::max(victim, kAttackTimesMax * attack + bench.options.starvation.after));
  }
  return time;
}

}  // namespace

extern const Experiment starvation_experiment;
const Experiment starvation_experiment = {
    .name = "starvation",
    .summary = "What a long prompt does to an answer that is being written",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
