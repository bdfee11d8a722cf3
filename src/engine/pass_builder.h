#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "cache/residency.h"
#include "device/batch.h"
#include "engine/rank_pass.h"
#include "sched/step.h"
#include "tokenizer/token_id.h"

namespace evener::engine {

// Turns a scheduler's step into what ranks execute: rows with tokens and positions, page tables,
// state slots, the rows whose logits are wanted. Keeps its memory from step to step. One thread.
class PassBuilder {
 public:
  // All tokens of a sequence, from position 0 on.
  using TokensOf = FunctionRef<std::span<const tokenizer::TokenId>(sched::SequenceId)>;

  // `step`: its slices, each of whose sequences has pages for it. The pass points into the builder
  // and the residency: valid until either changes.
  RankPass build(std::span<const sched::Slice> step, const cache::Residency& residency,
                 TokensOf tokens_of);

  // Where a slice's rows lie among the logits of the pass built last; those of slices without
  // logits are empty.
  struct LogitRange {
    size_t first_row = 0;
    size_t num_rows = 0;
  };
  LogitRange logits_of_slice(size_t index) const { return logit_ranges_[index]; }

 private:
  void clear();
  void add_rows(const sched::Slice& slice, std::span<const tokenizer::TokenId> tokens);
  void add_logit_rows(const sched::Slice& slice, size_t first_row);

  std::vector<int32_t> tokens_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> logit_rows_;
  std::vector<device::Slice> slices_;
  std::vector<LogitRange> logit_ranges_;
};

}  // namespace evener::engine
