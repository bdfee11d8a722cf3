// What a prefix cache is worth: conversations whose every turn begins with all before it, and
// prompts that begin with one shared text. One request at a time, so that nothing but the cache
// changes the time to the first token.
// Source: reference/serving/bench.md, 4 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"

namespace evener::bench {
namespace {

struct Session {
  std::vector<Message> messages;
  // Of the prompt and the answer before: the server has computed all of them.
  std::optional<uint64_t> num_tokens_known;
};

class Prefix {
 public:
  explicit Prefix(Bench& bench) : bench_(bench), options_(bench.options.prefix) {}

  Status run() {
    num_turns_ = turns_that_fit();
    for (uint32_t round = 1; round <= bench_.options.num_rounds && !bench_.stop; ++round) {
      RETURN_IF_ERROR(conversations(round));
      RETURN_IF_ERROR(shared_beginning(round));
    }
    return {};
  }

 private:
  uint32_t turns_that_fit() {
    const uint64_t a_turn = options_.num_tokens_new + bench_.options.num_tokens_out;
    const uint64_t most = prompt_tokens_max(bench_, bench_.options.num_tokens_out);
    const uint64_t left = most > options_.num_tokens_shared ? most - options_.num_tokens_shared : 0;
    const auto fit = uint32_t(std::min<uint64_t>(1 + left / a_turn, options_.num_turns));
    if (fit < options_.num_turns)
      bench_.recorder.finding(
          {.fault = Fault::not_measured,
           .severity = Severity::note,
           .cell = {},
           .request = {},
           .detail = fmt::format("prefix: turns {} to {}: a conversation of {} "
                                 "tokens is longer than the context",
                                 fit + 1, options_.num_turns,
                                 options_.num_tokens_shared + options_.num_turns * a_turn)});
    return fit;
  }

  CellPlan cell_of(const std::string& shape, const std::string& turn, uint32_t round) const {
    CellPlan plan;
    plan.experiment = "prefix";
    plan.point = fmt::format("{}-{}", shape, turn);
    plan.round = round;
    plan.target = {{"shape", shape}, {"turn", turn}};
    plan.expected.num_samples_min = 1;
    plan.expected.exact_prompts = bench_.server->facts().has_tokenize;
    return plan;
  }

  RequestPlan plan_of(const std::string& label, std::vector<Message> messages) const {
    RequestPlan plan = speed_request(bench_, label, {}, 0);
    plan.messages = std::move(messages);
    plan.force_length = false;  // the next turn follows from a real answer
    plan.keep_text = true;
    return plan;
  }

  void reuse(CellRunner& cell, const RequestRecord& record, std::optional<uint64_t> known) const {
    if (!known || !record.num_tokens_cached || *known == 0) return;
    cell.value("num_tokens_reusable", "tokens", double(*known));
    cell.value("reuse_share", "", double(*record.num_tokens_cached) / double(*known));
  }

  // A turn of each session, one after the other: the cache has to keep all of them meanwhile.
  Status conversations(uint32_t round) {
    std::vector<Session> sessions(options_.num_sessions);
    for (uint32_t turn = 1; turn <= num_turns_ && !bench_.stop; ++turn) {
      CellRunner cell(bench_, cell_of("multi_turn", std::to_string(turn), round));
      cell.expected().cold = turn == 1 && !bench_.options.allow_cached;
      if (turn == 1) RETURN_IF_ERROR(warm_and_flush(cell, round));
      for (uint32_t i = 0; i < options_.num_sessions && !bench_.stop; ++i) {
        bench_.progress(fmt::format("prefix, session {} turn {}, round {}", i + 1, turn, round),
                        double(turn - 1) / double(num_turns_));
        RETURN_IF_ERROR(take_turn(cell, sessions[i], i + 1, turn));
      }
      RETURN_IF_ERROR(cell.end());
    }
    return {};
  }

  Status warm_and_flush(CellRunner& cell, uint32_t round) {
    if (round == 1) {
      ASSIGN_OR_RETURN(std::string message,
                       bench_.prompts->cold(TextKind::prose, options_.num_tokens_shared));
      cell.warm_up(plan_of("", {{.role = "user", .content = std::move(message)}}));
    }
    cell.flush();
    return {};
  }

  Status take_turn(CellRunner& cell, Session& session, uint32_t number, uint32_t turn) {
    if (turn > 1 && session.messages.empty()) return {};  // it has failed before
    const uint64_t length = turn == 1 ? options_.num_tokens_shared : options_.num_tokens_new;
    ASSIGN_OR_RETURN(std::string message, bench_.prompts->cold(TextKind::prose, length));
    session.messages.push_back({.role = "user", .content = std::move(message)});
    RequestPlan plan = plan_of(fmt::format("session {}, turn {}", number, turn), session.messages);
    if (turn == 1) plan.num_tokens_in_wanted = uint32_t(length);
    const RequestRecord record = cell.ask(std::move(plan));
    if (record.finish != Finish::stop && record.finish != Finish::length) {
      session.messages.clear();
      return {};
    }
    if (turn > 1) reuse(cell, record, session.num_tokens_known);
    session.messages.push_back({.role = "assistant", .content = record.text});
    session.num_tokens_known = record.num_tokens_in;
    // What a model thought is not in the next prompt, so the answer behind it is computed anew.
    const bool same_text = record.num_tokens_reasoning.value_or(0) == 0;
    if (session.num_tokens_known && same_text)
      *session.num_tokens_known += record.num_tokens_out.value_or(0);
    return {};
  }

  // Prompts of several clients that begin with the same instructions: the first computes them.
  Status shared_beginning(uint32_t round) {
    if (bench_.stop) return {};
    ASSIGN_OR_RETURN(const std::string shared,
                     bench_.prompts->cold(TextKind::prose, options_.num_tokens_shared));
    const uint64_t length = options_.num_tokens_shared + options_.num_tokens_new;
    std::vector<std::string> messages;
    for (uint32_t i = 0; i <= options_.num_sessions; ++i) {
      ASSIGN_OR_RETURN(std::string message, bench_.prompts->after(shared, TextKind::prose, length));
      messages.push_back(std::move(message));
    }
    for (const bool first : {true, false}) {
      CellRunner cell(bench_, cell_of("shared_prefix", first ? "first" : "others", round));
      cell.expected().cold = first && !bench_.options.allow_cached;
      if (first) cell.flush();
      for (size_t i = first ? 0 : 1; i < (first ? 1 : messages.size()) && !bench_.stop; ++i) {
        bench_.progress(fmt::format("prefix, shared beginning, round {}", round), 1);
        RequestPlan plan =
            plan_of(fmt::format("client {}", i + 1), {{.role = "user", .content = messages[i]}});
        plan.num_tokens_in_wanted = uint32_t(length);
        const RequestRecord record = cell.ask(std::move(plan));
        if (!first) reuse(cell, record, options_.num_tokens_shared);
      }
      RETURN_IF_ERROR(cell.end());
      if (bench_.stop) return {};
    }
    return {};
  }

  Bench& bench_;
  const ExperimentOptions::Prefix& options_;
  uint32_t num_turns_ = 0;
};

Status run(Bench& bench) { return Prefix(bench).run(); }

}  // namespace

const Experiment prefix_experiment = {
    .name = "prefix",
    .summary = "What is reused of conversations and of a shared beginning, and what it saves",
    .needs = Needs::server,
    .run = run,
};

}  // namespace evener::bench
