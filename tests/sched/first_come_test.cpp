// What the first-come scheduler promises: order, packing, bounds, and no lost or doubled token.
// Method: hand-made queues, then random workloads whose steps are checked one by one.
#include "sched/first_come.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace evener::sched::first_come {
namespace {

constexpr Room kPlenty = {.pages = 1'000'000, .state_slots = 1'000'000};

std::string text(const Step& step) {
  std::string out;
  for (const Slice& slice : step.slices) {
    const char kind = slice.kind == Slice::Kind::prompt ? 'p' : 'd';
    out += fmt::format("{}{}{}{}+{}", out.empty() ? "" : " ", slice.sequence, kind,
                       slice.first_position, slice.num_tokens);
    if (slice.logits == Slice::Logits::last) out += "!";
    if (slice.logits == Slice::Logits::all) out += "*";
  }
  return out;
}

std::vector<SequenceId> ids(const Step& step) {
  std::vector<SequenceId> out;
  for (const Admission& admission : step.admitted) out.push_back(admission.sequence);
  return out;
}

TEST(FirstCome, WithNothingToDoTheStepIsEmpty) {
  Scheduler scheduler({});
  EXPECT_TRUE(scheduler.next_step(kPlenty).empty());
}

TEST(FirstCome, APromptIsReadInChunksAndOnlyItsLastRowGivesLogits) {
  Scheduler scheduler({.prefill_chunk = 4});
  scheduler.add({.id = 1, .num_prompt_tokens = 10, .num_new_tokens_max = 5});
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1p0+4");
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1p4+4");
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1p8+2!");
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "") << "nothing runs before the token is known";
  scheduler.token_known(1);
  const Step step = scheduler.next_step(kPlenty);
  EXPECT_EQ(text(step), "1d10+1!");
  EXPECT_EQ(step.number, 4U);
}

TEST(FirstCome, ChunksOfSeveralPromptsShareAStepWithDecodeRows) {
  Scheduler scheduler({.prefill_chunk = 4});
  scheduler.add({.id = 1, .num_prompt_tokens = 2, .num_new_tokens_max = 5});
  scheduler.add({.id = 2, .num_prompt_tokens = 5, .num_new_tokens_max = 5});
  scheduler.add({.id = 3, .num_prompt_tokens = 3, .num_new_tokens_max = 5});
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1p0+2! 2p0+2");
  scheduler.token_known(1);
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1d2+1! 2p2+3! 3p0+1");
}

TEST(FirstCome, AdmissionWaitsForPlacesPagesAndSlots) {
  const SchedulerOptions options{.max_sequences = 2, .prefill_chunk = 100, .page_size = 16};
  const Arrival arrival{.id = 1, .num_prompt_tokens = 17, .num_new_tokens_max = 15};  // 2 pages
  for (const Room room : {Room{.pages = 1, .state_slots = 9}, Room{.pages = 9, .state_slots = 0}}) {
    Scheduler scheduler(options);
    scheduler.add(arrival);
    EXPECT_TRUE(scheduler.next_step(room).empty());
    EXPECT_EQ(scheduler.num_waiting(), 1U);
    EXPECT_EQ(ids(scheduler.next_step({.pages = 2, .state_slots = 1})), std::vector<SequenceId>{1});
  }
  Scheduler scheduler(options);
  for (const SequenceId id : {1U, 2U, 3U}) {
    scheduler.add({.id = id, .num_prompt_tokens = 1, .num_new_tokens_max = 1});
  }
  EXPECT_EQ(ids(scheduler.next_step(kPlenty)), (std::vector<SequenceId>{1, 2}));
  scheduler.remove(1);
  EXPECT_EQ(ids(scheduler.next_step(kPlenty)), std::vector<SequenceId>{3});
}

TEST(FirstCome, ASmallSequenceDoesNotOvertakeALargeOne) {
  Scheduler scheduler({.page_size = 16});
  scheduler.add({.id = 1, .num_prompt_tokens = 160, .num_new_tokens_max = 1});
  scheduler.add({.id = 2, .num_prompt_tokens = 1, .num_new_tokens_max = 1});
  EXPECT_TRUE(scheduler.next_step({.pages = 10, .state_slots = 2}).empty());
  EXPECT_EQ(ids(scheduler.next_step({.pages = 12, .state_slots = 2})),
            (std::vector<SequenceId>{1, 2}));
}

TEST(FirstCome, PromptLogitsAreBoundedPerStep) {
  Scheduler scheduler({.prefill_chunk = 100, .prompt_logit_rows = 3});
  scheduler.add({.id = 1, .num_prompt_tokens = 5, .num_new_tokens_max = 0, .prompt_logits = true});
  scheduler.add({.id = 2, .num_prompt_tokens = 5, .num_new_tokens_max = 0});
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1p0+3* 2p0+5");
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "1p3+2*");
}

TEST(FirstCome, ARemovedSequenceIsGoneAtOnceWhereverItWas) {
  Scheduler scheduler({.max_sequences = 1, .prefill_chunk = 4});
  scheduler.add({.id = 1, .num_prompt_tokens = 100, .num_new_tokens_max = 1});
  scheduler.add({.id = 2, .num_prompt_tokens = 1, .num_new_tokens_max = 1});
  scheduler.add({.id = 3, .num_prompt_tokens = 1, .num_new_tokens_max = 1});
  (void)scheduler.next_step(kPlenty);
  scheduler.remove(2);
  scheduler.remove(1);
  scheduler.remove(77);
  EXPECT_EQ(text(scheduler.next_step(kPlenty)), "3p0+1!");
}

// A little engine: pools as numbers, random lives, every step checked.
class Workload {
 public:
  explicit Workload(unsigned seed)
      : random_(seed),
        options_{.max_sequences = 1 + random_() % 6,
                 .prefill_chunk = 1 + random_() % 40,
                 .prompt_logit_rows = 1 + random_() % 8,
                 .page_size = 16},
        scheduler_(options_),
        room_{.pages = 8 + random_() % 30, .state_slots = 1 + random_() % 6} {}

  void run() {
    for (size_t turn = 0; turn < 400; ++turn) {
      if (random_() % 3 == 0) add();
      if (random_() % 9 == 0) cancel();
      check(scheduler_.next_step(room_));
    }
    for (size_t turn = 0; turn < 100'000 && !lives_.empty(); ++turn) {
      const Step step = scheduler_.next_step(room_);
      ASSERT_FALSE(step.empty()) << "sequences wait, yet nothing runs";
      check(step);
    }
    EXPECT_TRUE(lives_.empty());
    EXPECT_EQ(scheduler_.num_running() + scheduler_.num_waiting(), 0U);
  }

 private:
  struct Life {
    Arrival arrival;
    bool admitted = false;
    size_t num_read = 0;
  };

  void add() {
    const Arrival arrival{.id = ++last_id_,
                          .num_prompt_tokens = 1 + random_() % 60,
                          .num_new_tokens_max = random_() % 60,
                          .prompt_logits = random_() % 5 == 0};
    lives_[arrival.id] = {.arrival = arrival};
    scheduler_.add(arrival);
  }

  void cancel() {
    if (lives_.empty()) return;
    end(std::next(lives_.begin(), static_cast<std::ptrdiff_t>(random_() % lives_.size()))->first);
  }

  void end(SequenceId id) {
    if (lives_[id].admitted) {
      room_.pages += scheduler_.pages_of(lives_[id].arrival);
      ++room_.state_slots;
    }
    scheduler_.remove(id);
    lives_.erase(id);
  }

  void check(const Step& step) {
    for (const Admission& admission : step.admitted) {
      const SequenceId id = admission.sequence;
      ASSERT_GT(id, last_admitted_) << "arrival order";
      last_admitted_ = id;
      lives_.at(id).admitted = true;
      ASSERT_LE(scheduler_.pages_of(lives_[id].arrival), room_.pages);
      ASSERT_GT(room_.state_slots, 0U);
      room_.pages -= scheduler_.pages_of(lives_[id].arrival);
      --room_.state_slots;
    }
    ASSERT_LE(scheduler_.num_running(), options_.max_sequences);
    std::set<SequenceId> seen;
    size_t num_prompt_tokens = 0;
    size_t num_full_logits = 0;
    for (const Slice& slice : step.slices) {
      ASSERT_TRUE(seen.insert(slice.sequence).second) << "one slice a sequence";
      if (slice.kind == Slice::Kind::prompt) num_prompt_tokens += slice.num_tokens;
      if (slice.logits == Slice::Logits::all) num_full_logits += slice.num_tokens;
      check(slice);
    }
    ASSERT_LE(num_prompt_tokens, options_.prefill_chunk);
    ASSERT_LE(num_full_logits, options_.prompt_logit_rows);
  }

  void check(const Slice& slice) {
    Life& life = lives_.at(slice.sequence);
    ASSERT_TRUE(life.admitted);
    ASSERT_EQ(slice.first_position, life.num_read) << "no token lost or doubled";
    life.num_read += slice.num_tokens;
    const size_t num_prompt = life.arrival.num_prompt_tokens;
    ASSERT_EQ(slice.kind == Slice::Kind::prompt, life.num_read <= num_prompt);
    if (life.num_read < num_prompt) return;
    const size_t num_generated = life.num_read - num_prompt + 1;
    if (life.arrival.num_new_tokens_max > 0) {
      ASSERT_NE(slice.logits, Slice::Logits::none);
    }
    if (num_generated >= life.arrival.num_new_tokens_max || random_() % 50 == 0) {
      end(slice.sequence);
    } else {
      scheduler_.token_known(slice.sequence);
    }
  }

  std::mt19937 random_;
  SchedulerOptions options_;
  Scheduler scheduler_;
  Room room_;
  std::map<SequenceId, Life> lives_;
  SequenceId last_id_ = 0;
  SequenceId last_admitted_ = 0;
};

TEST(FirstCome, RandomWorkloadsLoseNothingAndKeepEveryBound) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Workload(seed).run();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace evener::sched::first_come
