// Several steps in flight: chunks behind chunks, streams side by side, and what may happen to a
// sequence while its rows run. What must hold on any queue is checked by src/simulate.
#include <gtest/gtest.h>

#include <deque>

#include "sched/rig.h"

namespace evener::sched {
namespace {

using namespace std::chrono_literals;

// Issues steps and ends them, oldest first.
class Pipe {
 public:
  explicit Pipe(const Rig::Setup& setup) : rig(setup) {}

  // The text of the step that was issued; "": there was none.
  std::string issue() {
    Step step = rig.scheduler.next_step(rig.now);
    const std::string out = text(step);
    if (!step.empty()) steps.push_back(std::move(step));
    return out;
  }
  void finish(Duration took = 1ms) {
    const Step step = std::move(steps.front());
    steps.pop_front();
    rig.finish(step, took);
  }

  Rig rig;
  std::deque<Step> steps;
};

Rig::Setup of_depth(size_t depth) {
  return {.scheduler = {.prefill_chunk = 8, .depth = depth, .decode_share = 0}};
}

TEST(Pipe, ChunksOfAPromptDoNotWaitForEachOther) {
  Pipe p(of_depth(3));
  p.rig.ask(1, {.prompt = 30, .answer = 2});
  EXPECT_EQ(p.issue(), "1p0+8");
  EXPECT_EQ(p.issue(), "1p8+8");
  EXPECT_EQ(p.issue(), "1p16+8");
  p.finish();
  EXPECT_EQ(p.issue(), "1p24+6!");
  p.finish();
  EXPECT_EQ(p.issue(), "") << "its token is not known yet";
  p.finish();
  p.finish();
  EXPECT_EQ(p.issue(), "1d30+1!");
  EXPECT_EQ(p.issue(), "") << "nor is the next one";
}

TEST(Pipe, StreamsSpreadOverTheSteps) {
  Pipe p(of_depth(2));
  for (const SequenceId id : {1U, 2U, 3U}) p.rig.ask(id, {.prompt = 2, .answer = 9});
  EXPECT_EQ(p.issue(), "1p0+2! 2p0+2! 3p0+2!");
  p.finish();
  EXPECT_EQ(p.issue(), "1d2+1! 2d2+1!");
  EXPECT_EQ(p.issue(), "3d2+1!");
  p.finish();
  EXPECT_EQ(p.issue(), "1d3+1! 2d3+1!");
  p.finish();
  EXPECT_EQ(p.issue(), "3d3+1!");
}

TEST(Pipe, WhoHasWaitedLongestGoesFirst) {
  Pipe p(of_depth(2));
  for (const SequenceId id : {1U, 2U}) p.rig.ask(id, {.prompt = 2, .answer = 9});
  EXPECT_EQ(p.issue(), "1p0+2! 2p0+2!");
  p.finish();
  EXPECT_EQ(p.issue(), "1d2+1!");
  p.finish();
  EXPECT_EQ(p.issue(), "2d2+1!") << "1 has its token, but later";
}

TEST(Pipe, AloneAPromptIsCutSoThatStagesHaveSomethingToDo) {
  Pipe p({.scheduler = {.prefill_chunk = 2048, .depth = 2, .chunk_min = 64},
          .residency = {.page_size = 64, .num_pages = 100}});
  p.rig.ask(1, {.prompt = 2048, .answer = 1});
  size_t num_steps = 0;
  while (p.rig.scheduler.num_running() + p.rig.scheduler.num_waiting() > 0) {
    while (p.steps.size() < 2 && !p.issue().empty()) {
      const Slice& slice = p.steps.back().slices.front();
      EXPECT_GE(slice.num_tokens, 64U);
      EXPECT_LE(slice.num_tokens, 256U);
      ++num_steps;
    }
    p.finish();
  }
  EXPECT_GE(num_steps, 8U);
}

TEST(Pipe, WhatIsInFlightIsFoundByThoseBehindIt) {
  Pipe p(of_depth(2));
  p.rig.ask(1, {.prompt = 8, .answer = 9});
  EXPECT_EQ(p.issue(), "1p0+8!");
  Arrival same;
  same.newcomer = {.id = 2, .tokens = std::vector<cache::TokenId>(9, 1)};
  p.rig.left[2] = 0;
  p.rig.scheduler.add(same);
  EXPECT_EQ(p.issue(), "2p8+1");
}

TEST(Pipe, ASequenceMayBeRemovedWhileItsRowsRun) {
  Pipe p(of_depth(3));
  p.rig.ask(1, {.prompt = 30, .answer = 2});
  EXPECT_EQ(p.issue(), "1p0+8");
  EXPECT_EQ(p.issue(), "1p8+8");
  p.rig.scheduler.remove(1);
  p.rig.residency.check();
  EXPECT_EQ(p.rig.residency.stats().pages_private, 0U);
  p.rig.ask(2, {.prompt = 3, .answer = 9});
  EXPECT_EQ(p.issue(), "2p0+3!");
  p.rig.scheduler.step_done(0ms, 1ms);
  p.rig.scheduler.step_done(0ms, 2ms);
  EXPECT_EQ(p.issue(), "") << "2 waits for its token";
  p.rig.scheduler.step_done(0ms, 3ms);
  p.rig.scheduler.token_known(2, 7);
  EXPECT_EQ(p.issue(), "2d3+1!");
}

TEST(Pipe, WhatARemovedSequenceHasComputedStaysExceptTheNewestRows) {
  Pipe p(of_depth(3));
  p.rig.ask(1, {.prompt = 30, .answer = 2});
  p.issue();
  p.issue();
  p.rig.scheduler.remove(1);
  Arrival same;
  same.newcomer = {.id = 2, .tokens = std::vector<cache::TokenId>(30, 1)};
  p.rig.left[2] = 0;
  p.rig.scheduler.add(same);
  EXPECT_EQ(p.issue(), "2p8+8");
}

TEST(Pipe, ALoadThatFindsNothingLeavesTheStepsBeforeItAlone) {
  class Store : public cache::StoredEntries {
   public:
    bool contains(const cache::EntryKey&) const override { return has_it; }
    bool wants(const cache::EntryKey&) const override { return false; }
    bool has_it = false;
  } store;
  Rig::Setup setup = of_depth(2);
  setup.stored = &store;
  Pipe p(setup);
  p.rig.ask(1, {.prompt = 8, .answer = 9});
  EXPECT_EQ(p.issue(), "1p0+8!");
  store.has_it = true;
  p.rig.ask(2, {.prompt = 9, .answer = 1});
  EXPECT_EQ(p.issue(), "(load 2) 2p8+1!");
  store.has_it = false;
  p.rig.scheduler.load_failed(2, p.rig.now);
  EXPECT_EQ(p.rig.scheduler.num_waiting(), 1U);
  p.finish();
  EXPECT_EQ(p.issue(), "1d8+1! 2p0+8") << "from the beginning";
  p.rig.residency.check();
}

TEST(Pipe, WhenAllHasFailedNothingIsFoundAgain) {
  Pipe p(of_depth(2));
  p.rig.ask(1, {.prompt = 30, .answer = 9});
  p.issue();
  for (int i = 0; i < 2; ++i) {
    p.issue();
    p.finish();
  }
  p.rig.ask(2, {.prompt = 4, .answer = 9});
  EXPECT_EQ(p.rig.scheduler.all_failed(), std::vector<SequenceId>{1});
  const cache::CacheStats stats = p.rig.residency.stats();
  EXPECT_EQ(stats.pages_free, stats.num_pages);
  EXPECT_EQ(p.rig.scheduler.num_waiting(), 1U) << "2 had not run";
  p.steps.clear();
  p.rig.scheduler.remove(2);
  p.rig.ask(3, {.prompt = 4, .answer = 9});
  Arrival same;
  same.newcomer = {.id = 4, .tokens = std::vector<cache::TokenId>(30, 1)};
  p.rig.scheduler.add(same);
  EXPECT_EQ(p.issue(), "4p0+8");
}

TEST(Pipe, NobodyIsSentBackWhileItsRowIsInFlight) {
  Pipe p({.scheduler = {.prefill_chunk = 100, .depth = 2},
          .residency = {.page_size = 4, .num_pages = 16}});
  p.rig.ask(2, {.prompt = 8, .answer = 30});
  p.rig.ask(1, {.prompt = 8, .answer = 30});
  std::vector<SequenceId> retracted;
  const auto is_live = [&] {
    return p.rig.scheduler.num_running() + p.rig.scheduler.num_waiting() > 0;
  };
  for (int i = 0; i < 500 && is_live(); ++i) {
    while (p.steps.size() < 2) {
      Step step = p.rig.scheduler.next_step(p.rig.now);
      for (const SequenceId id : step.retracted) {
        retracted.push_back(id);
        for (const Step& running : p.steps) {
          for (const Slice& slice : running.slices) EXPECT_NE(slice.sequence, id);
        }
      }
      if (step.empty()) break;
      p.steps.push_back(std::move(step));
    }
    ASSERT_FALSE(p.steps.empty());
    p.finish();
  }
  EXPECT_FALSE(is_live());
  EXPECT_FALSE(retracted.empty());
}

TEST(Pipe, BehindAChunkBeforeStreamsThereIsRoomForAsLongAOne) {
  // A token of a prompt takes a millisecond, a step five: with two stages a row may have to wait
  // for three parts of 1/2 of a chunk.
  Pipe p({.scheduler = {.prefill_chunk = 400, .depth = 2, .max_gap = 60ms, .chunk_min = 4}});
  p.rig.ask(900, {.prompt = 2000, .answer = 0});
  for (size_t left = 2000; left > 0;) {
    p.issue();
    const size_t num_tokens = p.steps.front().slices.front().num_tokens;
    left -= num_tokens;
    p.finish(5ms + num_tokens * 1ms);
  }
  p.rig.ask(1, {.prompt = 4, .answer = 99});
  p.issue();
  p.finish(9ms);
  p.rig.ask(2, {.prompt = 400, .answer = 9});
  p.issue();
  EXPECT_EQ(p.steps.back().slices.size(), 2U);
  EXPECT_GE(p.steps.back().slices.back().num_tokens, 20U);
  EXPECT_LE(p.steps.back().slices.back().num_tokens, 40U);
}

}  // namespace
}  // namespace evener::sched
