#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/cell_runner.h"
#include "bench/load.h"

namespace evener::bench {

// Prompts of one length, made before they are needed: making one asks the server, which a
// measurement would feel.
class PromptStock {
 public:
  PromptStock(Bench& bench, uint64_t num_tokens) : bench_(bench), num_tokens_(num_tokens) {}

  // Has at least `num_prompts`, or as many as are made when an interrupt comes.
  Status fill(size_t num_prompts);
  Result<RequestPlan> take(const std::string& label);

 private:
  Result<std::string> make() const;

  Bench& bench_;
  uint64_t num_tokens_;
  std::vector<std::string> messages_;
};

// Users who ask without a pause.
struct Users {
  uint32_t num_users = 1;
  std::chrono::duration<double> time{30};  // a user whose answer ends later asks no more
};

// As part of `cell`, which is told the concurrency that was wanted and seen. Each user asks at
// least once.
Result<LoadResult> run_users(Bench& bench, CellRunner& cell, const Users& users,
                             PromptStock& stock);

// As many prompts as they may need when all of them together took `one_answer` for one each, but
// some thousands at most.
size_t prompts_for(const Users& users, std::chrono::duration<double> one_answer);

// Each user asks once, excluded from the figures: what a server prepares for so many at a time is
// there then. Gives how long one answer took.
Result<std::chrono::duration<double>> warm_up_users(Bench& bench, CellRunner& cell,
                                                    uint32_t num_users, PromptStock& stock);

}  // namespace evener::bench
