// Speculation by kind of text: how fast each is written, and how much of what was drafted is kept.
// A server without speculation gives the same speed for all.
// Source: reference/serving/bench.md, 2 and 3.4.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/spec_counters.h"

namespace evener::bench {
namespace {

constexpr uint64_t kPromptTokens = 512;

struct Kind {
  TextKind kind;
  const char* name;
};
constexpr std::array kKinds = {Kind{TextKind::prose, "prose"}, Kind{TextKind::code, "code"},
                               Kind{TextKind::counting, "counting"}};

struct Sampling {
  const char* name;
  double temperature;
};
constexpr std::array kSamplings = {Sampling{"greedy", 0}, Sampling{"sampled", 0.8}};

class Spec {
 public:
  explicit Spec(Bench& bench) : bench_(bench) {}

  Status run() {
    const uint32_t num_rounds = bench_.options.num_rounds;
    for (uint32_t round = 1; round <= num_rounds; ++round) {
      for (const Kind& kind : kKinds) {
        for (const Sampling& sampling : kSamplings) {
          if (bench_.stop) return {};
          bench_.progress(fmt::format("speculation, {}, {}, round {} of {}", kind.name,
                                      sampling.name, round, num_rounds),
                          double(round - 1) / num_rounds);
          RETURN_IF_ERROR(cell(kind, sampling, round));
        }
      }
    }
    if (!bench_.stop && !told_) say_what_is_missing();
    return {};
  }

 private:
  Status cell(const Kind& kind, const Sampling& sampling, uint32_t round) {
    CellPlan plan;
    plan.experiment = "spec";
    plan.point = fmt::format("{}-{}", kind.name, sampling.name);
    plan.round = round;
    plan.target = {{"text_kind", kind.name}, {"sampling", sampling.name}};
    plan.expected.cold = !bench_.options.allow_cached;
    plan.expected.forced_length = true;
    plan.expected.exact_prompts = bench_.server->facts().has_tokenize;
    plan.expected.num_samples_min = 1;
    const uint64_t length =
        std::min(kPromptTokens, prompt_tokens_max(bench_, bench_.options.num_tokens_out));
    const auto request = [&]() -> Result<RequestPlan> {
      ASSIGN_OR_RETURN(std::string message, bench_.prompts->cold(kind.kind, length));
      RequestPlan asked = speed_request(bench_, kind.name, std::move(message), length);
      asked.temperature = sampling.temperature;
      asked.seed = bench_.options.seed + round;
      return asked;
    };
    CellRunner cell(bench_, std::move(plan));
    if (!warm_) {
      ASSIGN_OR_RETURN(RequestPlan asked, request());
      cell.warm_up(std::move(asked));
      warm_ = true;
    }
    ASSIGN_OR_RETURN(RequestPlan asked, request());
    cell.flush();
    const auto before = counters();
    const RequestRecord record = cell.ask(std::move(asked));
    // Where answers tell of their own drafts, the figures come from them.
    if (record.server.num_drafted) {
      told_ = true;
    } else {
      acceptance(cell, before);
    }
    return cell.end();
  }

  std::optional<std::map<std::string, double>> read_metrics() {
    if (!bench_.server->facts().has_metrics) return std::nullopt;
    auto metrics = bench_.server->metrics();
    if (!metrics) return std::nullopt;
    return *std::move(metrics);
  }

  std::optional<SpecCounters> counters() {
    const auto metrics = read_metrics();
    return metrics ? spec_counters(*metrics) : std::nullopt;
  }

  // From what the counters grew by; the server must have had nothing else to do.
  void acceptance(CellRunner& cell, const std::optional<SpecCounters>& before) {
    const auto metrics = read_metrics();
    if (!metrics) return;
    const SpecGauges gauges = spec_gauges(*metrics);
    if (gauges.accept_length) cell.value("accept_length_gauge", "tokens", *gauges.accept_length);
    if (gauges.accept_rate) cell.value("accept_rate_gauge", "", *gauges.accept_rate);
    told_ = told_ || gauges.accept_length || gauges.accept_rate;
    const auto after = spec_counters(*metrics);
    if (!before || !after) return;
    told_ = true;
    const double drafted = after->num_drafted - before->num_drafted;
    const double accepted = after->num_accepted - before->num_accepted;
    const double drafts = after->num_drafts - before->num_drafts;
    cell.value("num_drafted", "tokens", drafted);
    if (drafted > 0) cell.value("accept_rate", "", accepted / drafted);
    if (drafts <= 0) return;
    cell.value("accept_length", "tokens", 1 + accepted / drafts);
    for (const auto& [position, count] : after->num_accepted_at) {
      const auto known = before->num_accepted_at.find(position);
      const double more = count - (known == before->num_accepted_at.end() ? 0 : known->second);
      cell.value(fmt::format("accept_rate_at_{}", position + 1), "", more / drafts);
    }
  }

  void say_what_is_missing() {
    bench_.recorder.finding(
        {.fault = Fault::not_measured,
         .severity = Severity::note,
         .cell = {},
         .request = {},
         .detail = "spec: acceptance: neither answers nor /metrics of the server tell of drafts; "
                   "speed by kind of text was measured"});
  }

  Bench& bench_;
  bool warm_ = false;
  bool told_ = false;
};

Status run(Bench& bench) { return Spec(bench).run(); }

std::chrono::duration<double> expected_time(const Bench& bench, const Speed& speed) {
  const auto num_cells = double(bench.options.num_rounds * kKinds.size() * kSamplings.size() + 1);
  return num_cells * speed.time(kPromptTokens, bench.options.num_tokens_out);
}

}  // namespace

const Experiment spec_experiment = {
    .name = "spec",
    .summary = "Speculation by kind of text: speed and share of drafts that is kept",
    .needs = Needs::server,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
