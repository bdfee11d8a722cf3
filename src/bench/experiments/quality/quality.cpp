// Small tasks whose answers a program can judge. Eight code tasks prove nothing about a model; they
// show that a server, its template, its parser or a quantisation has broken one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/quality/code_tasks.h"
#include "bench/experiments/quality/json_tasks.h"
#include "bench/experiments/quality/needle.h"
#include "bench/experiments/quality/tool_tasks.h"

namespace evener::bench {
namespace {

constexpr std::array<uint64_t, 5> kNeedleLengths = {1024, 4096, 16'384, 32'768, 131'072};
constexpr std::array<unsigned, 3> kDepths = {10, 50, 90};
constexpr uint64_t kNeedleTokens = 96;  // of needles and question, at most

enum class Format : uint8_t { free, json_schema, json_object };

std::string_view to_word(Format format) {
  switch (format) {
    case Format::json_schema:
      return "json_schema";
    case Format::json_object:
      return "json_object";
    case Format::free:
      break;
  }
  return "none";
}

json::Value response_format(Format format, const JsonTask& task) {
  if (format == Format::json_object) return {{"response_format", {{"type", "json_object"}}}};
  return {{"response_format",
           {{"type", "json_schema"},
            {"json_schema", {{"name", "answer"}, {"strict", true}, {"schema", schema_of(task)}}}}}};
}

class Quality {
 public:
  explicit Quality(Bench& bench) : bench_(bench) {}

  Status run() {
    RETURN_IF_ERROR(json_cell(Format::free));
    RETURN_IF_ERROR(constrained_json());
    RETURN_IF_ERROR(tool_calls());
    RETURN_IF_ERROR(needles());
    return code();
  }

 private:
  struct Question {
    std::string label;
    std::string message;
    json::Value more = json::Value::object();
  };

  RequestPlan plan_of(const Question& question) const {
    RequestPlan plan;
    plan.label = question.label;
    plan.messages = {{.role = "user", .content = question.message}};
    plan.max_tokens = bench_.options.quality.num_tokens_out_max;
    plan.seed = bench_.options.seed;
    plan.timeout = bench_.options.timeout;
    plan.more = question.more;
    plan.stream = false;  // times are not what is asked
    plan.keep_text = true;
    return plan;
  }

  CellPlan cell_of(const std::string& point, std::map<std::string, std::string> target) const {
    CellPlan plan;
    plan.experiment = "quality";
    plan.point = point;
    plan.target = std::move(target);
    plan.expected.judge_stalls = false;
    plan.expected.num_samples_min = 1;
    return plan;
  }

  // Asks and scores. A request that failed has no score; the cell's checks name it.
  template <class Judge>
  void ask(CellRunner& cell, const Question& question, Judge&& judge) {
    bench_.progress(fmt::format("quality, {}", question.label), fraction_);
    const RequestRecord record = cell.ask(plan_of(question));
    const bool answered = record.finish == Finish::stop || record.finish == Finish::length ||
                          record.finish == Finish::tool_calls;
    if (!answered) return;
    const Judgement judgement = judge(record);
    cell.value("score", "", judgement.score);
    if (judgement.score >= 1) return;
    const std::string_view cut = record.finish == Finish::length ? " (the answer was cut off)" : "";
    cell.finding(Fault::wrong_answer, Severity::note, fmt::format("{}{}", judgement.why, cut),
                 question.label);
  }

  void not_measured(std::string detail) {
    bench_.recorder.finding({.fault = Fault::not_measured,
                             .severity = Severity::note,
                             .cell = {},
                             .request = {},
                             .detail = std::move(detail)});
  }

  Status json_cell(Format format) {
    std::map<std::string, std::string> target = {{"task", "json"}};
    if (format != Format::free)
      target = {{"task", "json_constrained"}, {"response_format", std::string(to_word(format))}};
    CellRunner cell(bench_, cell_of(target["task"], target));
    for (const JsonTask& task : json_tasks()) {
      if (bench_.stop) break;
      Question question{.label = fmt::format("json {}", task.label), .message = prompt_of(task)};
      if (format != Format::free) question.more = response_format(format, task);
      ask(cell, question, [&](const RequestRecord& record) { return judge(task, record.text); });
    }
    fraction_ = 0.2;
    return cell.end();
  }

  // Whether the server takes a request with these fields; what it said if it does not.
  std::optional<std::string> refuses(const json::Value& more) {
    RequestPlan plan = plan_of({.label = "is it taken", .message = "Answer {}.", .more = more});
    plan.max_tokens = 8;
    plan.excluded = true;
    const RequestRecord record = bench_.client->ask(plan);
    if (record.http_status == 200 || record.http_status == 0) return std::nullopt;
    return fmt::format("status {}: {}", record.http_status, record.error);
  }

  Status constrained_json() {
    if (bench_.stop) return {};
    std::string why;
    for (const Format format : {Format::json_schema, Format::json_object}) {
      const auto refused = refuses(response_format(format, json_tasks().front()));
      if (!refused) return json_cell(format);
      why +=
          fmt::format("{}{} refused with {}", why.empty() ? "" : "; ", to_word(format), *refused);
    }
    not_measured(fmt::format("quality: JSON with response_format: {}", why));
    return {};
  }

  Status tool_calls() {
    if (bench_.stop) return {};
    const json::Value more = {{"tools", tools()}};
    if (const auto refused = refuses(more)) {
      not_measured(fmt::format("quality: tool calls: tools refused with {}", *refused));
      return {};
    }
    CellRunner cell(bench_, cell_of("tool_call", {{"task", "tool_call"}}));
    for (const ToolTask& task : tool_tasks()) {
      if (bench_.stop) break;
      ask(cell,
          {.label = fmt::format("tool call, {}", task.label),
           .message = task.question,
           .more = more},
          [&](const RequestRecord& record) { return judge(task, record.tool_calls); });
    }
    fraction_ = 0.4;
    return cell.end();
  }

  // One needle at each depth, then all of them in one text.
  Status needles() {
    std::vector<uint64_t> lengths = bench_.options.quality.needle_lengths;
    const uint64_t longest = prompt_tokens_max(bench_, bench_.options.quality.num_tokens_out_max);
    if (lengths.empty()) {
      lengths.assign(kNeedleLengths.begin(), kNeedleLengths.end());
      std::erase_if(lengths, [longest](uint64_t length) { return length > longest; });
      if (lengths.empty()) lengths.push_back(longest);
    }
    for (const uint64_t length : lengths) {
      if (length <= kNeedleTokens || length > longest) {
        not_measured(
            fmt::format("quality: needle in {} tokens: needles and question take up to "
                        "{}, and the context holds {} beside the answer",
                        length, kNeedleTokens, longest));
        continue;
      }
      for (const unsigned depth : kDepths) RETURN_IF_ERROR(needle(length, {&depth, 1}));
      RETURN_IF_ERROR(needle(length, kDepths));
    }
    fraction_ = 0.8;
    return {};
  }

  Status needle(uint64_t length, std::span<const unsigned> depths) {
    if (bench_.stop) return {};
    std::string depth;
    for (const unsigned percent : depths)
      depth += (depth.empty() ? "" : "+") + std::to_string(percent);
    const uint64_t seed = bench_.options.seed + length + depths.front() + depths.size();
    const std::vector<Needle> hidden = make_needles(seed, depths);
    const auto hay = bench_.prompts->cold(TextKind::prose, length - kNeedleTokens);
    if (!hay && hay.error().code == Code::limit_exceeded) {
      not_measured(fmt::format("quality: needle in {} tokens: {}", length, hay.error().why));
      return {};
    }
    if (!hay) return hay.error();
    CellRunner cell(
        bench_,
        cell_of(fmt::format("needle-{}-{}", length, depth),
                {{"task", "needle"}, {"num_tokens_in", std::to_string(length)}, {"depth", depth}}));
    ask(cell,
        {.label = fmt::format("needle in {} tokens at {} %", length, depth),
         .message = hide(hidden, *hay)},
        [&](const RequestRecord& record) { return judge(hidden, record.text); });
    return cell.end();
  }

  Status code() {
    if (bench_.stop) return {};
    if (!bench_.options.quality.run_code) {
      not_measured("quality: code tasks: left out, as was asked for");
      return {};
    }
    const auto sandbox = Sandbox::open();
    if (!sandbox) {
      not_measured(fmt::format("quality: code tasks: {}", sandbox.error().why));
      return {};
    }
    CellRunner cell(bench_, cell_of("code", {{"task", "code"}}));
    for (const CodeTask& task : code_tasks()) {
      if (bench_.stop) break;
      ask(cell, {.label = fmt::format("code {}", task.function), .message = prompt_of(task)},
          [&](const RequestRecord& record) { return judge(task, record.text, *sandbox); });
    }
    return cell.end();
  }

  Bench& bench_;
  double fraction_ = 0;
};

Status run(Bench& bench) { return Quality(bench).run(); }

}  // namespace

const Experiment quality_experiment = {
    .name = "quality",
    .summary = "Strict JSON, tool calls, needles in a haystack, small code tasks",
    .needs = Needs::server,
    .run = run,
};

}  // namespace evener::bench
