#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/ranks.h"
#include "simulate/fake_model.h"

namespace evener::engine {

// The tokens that simulate's model of hashes gives after the prompt.
inline std::vector<int32_t> answer_to(const std::vector<int32_t>& prompt, size_t num_tokens,
                                      bool is_recurrent) {
  simulate::History history(0, is_recurrent);
  history.append(prompt);
  std::vector<int32_t> answer;
  for (size_t i = 0; i < num_tokens; ++i) {
    answer.push_back(history.next_token());
    history.append(answer.back());
  }
  return answer;
}

// Ranks that do everything as late as they may, and in order: nothing before somebody waits for a
// result. Whoever changed what a pass points to, or gave a page away out of order, gets wrong
// tokens: they depend on all that pages and state slots hold.
class LateRanks final : public Ranks {
 public:
  struct Options {
    size_t depth = 3;
    size_t vocab_size = 0;
    size_t page_size = 64;
    size_t num_pages = 0;
    size_t num_slots = 0;  // 0: a model without recurrent layers
  };
  explicit LateRanks(const Options& options) : options_(options) { lose_all(); }

  size_t fails_at_pass = 0;                 // counted from 1; 0: never
  std::function<void(size_t)> when_begins;  // with the number of the pass
  std::mutex restart_gate;                  // held: restarts do not end
  size_t num_restarts = 0;
  size_t most_in_flight = 0;
  std::vector<Wanted> wanted;  // of each pass with logits that somebody looks at
  bool broke_contract = false;

  size_t depth() const override { return options_.depth; }

  void begin(const RankPass& pass) override {
    if (when_begins) when_begins(num_begun_ + 1);
    ++num_begun_;
    most_in_flight = std::max(most_in_flight, ++num_in_flight_);
    if (!pass.input.logit_rows.empty()) wanted.push_back(pass.wanted);
    if (num_in_flight_ > options_.depth || is_down_) broke_contract = true;
    Pass copy{.number = num_begun_,
              .tokens = {pass.input.tokens.begin(), pass.input.tokens.end()},
              .logit_rows = {pass.input.logit_rows.begin(), pass.input.logit_rows.end()},
              .wanted = pass.wanted};
    for (const device::Slice& slice : pass.input.batch.slices) {
      copy.slices.push_back({.first_row = slice.first_row,
                             .num_rows = slice.num_rows,
                             .first_position = slice.first_position,
                             .pages = {slice.pages.begin(), slice.pages.end()},
                             .slot = slice.state_slot});
    }
    later_.emplace_back([this, copy = std::move(copy)] { run(copy); });
  }

  Result<const PassResult*> end() override {
    if (num_in_flight_ == 0 && !is_down_) broke_contract = true;
    while (results_.empty() && !is_down_) do_next();
    if (is_down_) return failure();
    --num_in_flight_;
    result_ = std::move(results_.front());
    results_.pop_front();
    return &result_;
  }

  void clear_state(int32_t slot) override {
    later_.emplace_back([this, slot] { state(slot) = simulate::kClearState; });
  }
  void copy_state(int32_t from, int32_t to) override {
    later_.emplace_back([this, from, to] { state(to) = state(from); });
  }
  size_t page_bytes() const override { return options_.page_size * sizeof(uint64_t); }
  size_t state_bytes() const override { return options_.num_slots > 0 ? sizeof(uint64_t) : 0; }
  void write_page(int32_t number, std::span<const std::byte> bytes) override {
    later_.emplace_back([this, number, copy = std::vector(bytes.begin(), bytes.end())] {
      std::memcpy(page(number).data(), copy.data(), copy.size());
    });
  }
  void write_state(int32_t slot, std::span<const std::byte> bytes) override {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    later_.emplace_back([this, slot, value] { state(slot) = value; });
  }
  Status read_page(int32_t number, std::span<std::byte> bytes) override {
    while (!later_.empty() && !is_down_) do_next();
    if (is_down_) return failure();
    std::memcpy(bytes.data(), page(number).data(), bytes.size());
    return {};
  }
  Status read_state(int32_t slot, std::span<std::byte> bytes) override {
    while (!later_.empty() && !is_down_) do_next();
    if (is_down_) return failure();
    std::memcpy(bytes.data(), &state(slot), bytes.size());
    return {};
  }
  std::vector<std::vector<uint64_t>> expert_uses() override { return {}; }
  void reset_expert_uses() override {}

  Result<Restart> restart() override {
    const std::lock_guard wait(restart_gate);
    if (!is_down_) broke_contract = true;
    ++num_restarts;
    lose_all();
    return Restart::same_layout;
  }
  void interrupt() override {}
  RanksReport report() const override { return {}; }

 private:
  struct Rows {
    size_t first_row = 0;
    size_t num_rows = 0;
    size_t first_position = 0;
    std::vector<int32_t> pages;
    int32_t slot = -1;
  };
  struct Pass {
    size_t number = 0;
    std::vector<int32_t> tokens;
    std::vector<int32_t> logit_rows;
    Wanted wanted = Wanted::logits;
    std::vector<Rows> slices{};
  };

  static Error failure() {
    return {.code = Code::unavailable,
            .doing = "compute",
            .where = "rank 1",
            .why = "has ended",
            .remedy = {}};
  }

  std::vector<uint64_t>& page(int32_t number) { return pages_.at(static_cast<size_t>(number)); }
  uint64_t& state(int32_t slot) { return states_.at(static_cast<size_t>(slot)); }

  void do_next() {
    const std::function<void()> next = std::move(later_.front());
    later_.pop_front();
    next();
  }

  void run(const Pass& pass) {
    if (pass.number == fails_at_pass) {
      is_down_ = true;
      return;
    }
    std::vector<int32_t> next(pass.tokens.size());
    for (const Rows& rows : pass.slices) run(pass, rows, next);
    PassResult result;
    for (const int32_t row : pass.logit_rows) {
      const int32_t token = next[static_cast<size_t>(row)];
      if (pass.wanted == Wanted::best_tokens) {
        result.best_tokens.push_back(token);
      } else {
        result.logits.resize(result.logits.size() + options_.vocab_size, 0);
        result.logits[result.logits.size() - options_.vocab_size + static_cast<size_t>(token)] = 1;
      }
    }
    results_.push_back(std::move(result));
  }

  void run(const Pass& pass, const Rows& rows, std::vector<int32_t>& next) {
    const auto entry = [&](size_t position) -> uint64_t& {
      return page(rows.pages.at(position / options_.page_size))[position % options_.page_size];
    };
    uint64_t sum = 0;
    for (size_t i = 0; i < rows.first_position; ++i) sum += simulate::summand(entry(i), i);
    for (size_t row = 0; row < rows.num_rows; ++row) {
      const size_t position = rows.first_position + row;
      const int32_t token = pass.tokens[rows.first_row + row];
      const uint64_t before = position == 0 ? simulate::first_entry(0) : entry(position - 1);
      entry(position) = simulate::next_entry(before, token);
      sum += simulate::summand(entry(position), position);
      if (rows.slot >= 0) state(rows.slot) = simulate::next_state(state(rows.slot), token);
      next[rows.first_row + row] =
          simulate::token_after(sum, rows.slot >= 0 ? state(rows.slot) : 0);
    }
  }

  void lose_all() {
    later_.clear();
    results_.clear();
    num_in_flight_ = 0;
    is_down_ = false;
    pages_.assign(options_.num_pages, std::vector<uint64_t>(options_.page_size, 0xBAD));
    states_.assign(options_.num_slots, 0xBAD);
  }

  Options options_;
  std::deque<std::function<void()>> later_;
  std::deque<PassResult> results_;
  PassResult result_;
  std::vector<std::vector<uint64_t>> pages_;
  std::vector<uint64_t> states_;
  size_t num_begun_ = 0;
  size_t num_in_flight_ = 0;
  bool is_down_ = false;
};

}  // namespace evener::engine
