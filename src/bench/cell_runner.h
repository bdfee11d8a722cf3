#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/cell.h"
#include "bench/checks.h"
#include "bench/experiment.h"

namespace evener::bench {

struct CellPlan {
  std::string experiment;  // "sweep"
  std::string point;       // "8192"; the key is experiment/point/round
  uint32_t round = 1;      // from 1
  std::map<std::string, std::string> target;
  Expectations expected;
};

// One cell against a server, with the controls that every experiment owes its figures: what is
// cached is forgotten, shapes are warm, everything seen is recorded and checked, an interrupt keeps
// what is there.
//
//   CellRunner cell(bench, {...});
//   cell.warm_up(plan);  // once for a shape
//   cell.flush();
//   cell.ask(plan);
//   return cell.end();
class CellRunner {
 public:
  CellRunner(Bench& bench, CellPlan plan);
  CellRunner(const CellRunner&) = delete;
  CellRunner& operator=(const CellRunner&) = delete;

  const std::string& key() const { return cell_.key; }

  // Sends the request, excluded from all figures, waits for its end and then for options.idle.
  void warm_up(RequestPlan plan);

  // Has the server forget what it computed. A server that cannot do it is no fault: cold prompts
  // begin with a nonce. One that can and did not is a finding. Does nothing with
  // options.allow_cached.
  void flush();

  // As part of this cell: sends, waits for the end, keeps the record. Ends early as cancelled after
  // an interrupt.
  RequestRecord ask(RequestPlan plan);

  // As part of this cell; a load sends them. See keep.
  RequestPlan in_cell(RequestPlan plan) const;

  // Records it, and keeps it for end(). Any thread.
  void keep(RequestRecord record);

  void value(const std::string& key, const std::string& unit, double value);
  void finding(Fault fault, Severity severity, const std::string& detail,
               const std::string& request = {});

  Expectations& expected() { return plan_.expected; }
  // What was kept until now; not while requests run.
  const std::vector<RequestRecord>& requests() const { return requests_; }

  // Checks what was kept, settles the state and ends the cell. Errors: those of the recorder;
  // unavailable if no request was answered because the server is gone.
  Status end();
  CellState state() const { return cell_.state; }  // after end()

 private:
  Bench& bench_;
  CellPlan plan_;
  CellRecord cell_;
  ClockReading clocks_;
  std::mutex mutex_;  // over the two
  std::vector<RequestRecord> requests_;
  std::vector<Finding> findings_;
};

// A request whose answer has exactly options.num_tokens_out tokens, at temperature 0. `message` is
// from bench.prompts, of text_kind(bench) and `num_tokens_in` tokens.
RequestPlan speed_request(const Bench& bench, const std::string& label, std::string message,
                          uint64_t num_tokens_in);

// What such requests are held to: cold, of the forced length, prompts of exact lengths where the
// server tokenizes. One answer is enough: the further samples are other rounds.
Expectations speed_expectations(const Bench& bench);

// Prose; counting where the server cannot be told to ignore the end of the text, since a model that
// counts does not come to one.
TextKind text_kind(const Bench& bench);

// Most tokens of a prompt that leaves room for an answer of `num_tokens_out`.
uint64_t prompt_tokens_max(const ServerFacts& server, uint64_t num_tokens_out);
inline uint64_t prompt_tokens_max(const Bench& bench, uint64_t num_tokens_out) {
  return prompt_tokens_max(bench.server->facts(), num_tokens_out);
}

// Sleeps, until an interrupt at most.
void wait(const Bench& bench, std::chrono::duration<double> time);

}  // namespace evener::bench
