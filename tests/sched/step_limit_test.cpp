// The bound in steps, with the semantics that scheduler.md 3.2 wrote down. One test a point.
#include <gtest/gtest.h>

#include "sched/rig.h"

namespace evener::sched {
namespace {

Rig rig(std::optional<size_t> max_prefill_steps) {
  return Rig({.scheduler = {.prefill_chunk = 4, .max_prefill_steps = max_prefill_steps}});
}

TEST(StepLimit, ZeroIsPromptsFirst) {  // 1 and 9
  Rig r = rig(0);
  r.ask(1, {.prompt = 4, .answer = 9});
  r.ask(2, {.prompt = 12, .answer = 9});
  EXPECT_EQ(r.turns(5), "1p0+4! | 2p0+4 | 2p4+4 | 2p8+4! | 1d4+1! 2d12+1!");
  r.ask(3, {.prompt = 4, .answer = 9});
  EXPECT_EQ(r.turn(), "3p0+4!");
}

TEST(StepLimit, AfterNPromptStepsTheTurnBelongsToTheDecodes) {
  Rig r = rig(2);
  r.ask(1, {.prompt = 4, .answer = 9});
  EXPECT_EQ(r.turns(2), "1p0+4! | 1d4+1!");
  r.ask(2, {.prompt = 20, .answer = 9});
  EXPECT_EQ(r.turns(6), "2p0+4 | 2p4+4 | 1d5+1! | 2p8+4 | 2p12+4 | 1d6+1!");
}

TEST(StepLimit, SequencesThatOnlyReadAPromptNeverForceATurn) {  // 2
  Rig r = rig(1);
  r.ask(1, {.prompt = 12, .answer = 0});
  r.ask(2, {.prompt = 12, .answer = 0});
  EXPECT_EQ(r.turns(6), "1p0+4 | 1p4+4 | 1p8+4 | 2p0+4 | 2p4+4 | 2p8+4")
      << "the requests are of equal age: the order is that of their numbers";
}

TEST(StepLimit, AForcedTurnAdmitsNobody) {  // 3
  Rig r = rig(1);
  r.ask(1, {.prompt = 4, .answer = 9});
  EXPECT_EQ(r.turn(), "1p0+4!");
  r.ask(2, {.prompt = 4, .answer = 9});
  const Step forced = r.scheduler.next_step(r.now);
  EXPECT_EQ(text(forced), "1d4+1!");
  EXPECT_TRUE(forced.admitted.empty());
  EXPECT_EQ(r.scheduler.num_waiting(), 1U);
  r.finish(forced, std::chrono::milliseconds(1));
  EXPECT_EQ(r.turn(), "2p0+4!") << "no budget was lost";
}

TEST(StepLimit, TheCountStaysAtItsLimitUntilSomebodyCanDecode) {  // 4
  Rig r = rig(2);
  r.ask(1, {.prompt = 20, .answer = 9});
  r.ask(2, {.prompt = 4, .answer = 9});
  EXPECT_EQ(r.turns(5), "1p0+4 | 1p4+4 | 1p8+4 | 1p12+4 | 1p16+4!");
  EXPECT_EQ(r.turn(), "1d20+1!") << "the first turn with a stream is its own, though 2 waits";
  EXPECT_EQ(r.turn(), "2p0+4!");
}

TEST(StepLimit, AStreamThatIsGoneLeavesTheCountAsItWas) {  // 5
  Rig r = rig(1);
  r.ask(1, {.prompt = 4, .answer = 9});
  EXPECT_EQ(r.turn(), "1p0+4!");
  r.scheduler.remove(1);
  EXPECT_EQ(r.turn(), "") << "nothing ran, so nothing is set back";
  r.ask(2, {.prompt = 4, .answer = 9});
  r.ask(3, {.prompt = 4, .answer = 9});
  EXPECT_EQ(r.turns(2), "2p0+4! | 2d4+1!");
}

TEST(StepLimit, AStepThatOnlyMovesStatesIsNoPromptStep) {  // 6: what idles does not count
  Rig r({.scheduler = {.prefill_chunk = 8, .max_prefill_steps = 1},
         .residency = {.page_size = 4, .num_pages = 100, .num_state_slots = 4}});
  r.ask(1, {.prompt = 9, .answer = 2});
  EXPECT_EQ(r.turns(3), "1p0+8 | (copy) 1p8+1! | 1d9+1!");
  r.ask(2, {.prompt = 4, .answer = 3});
  EXPECT_EQ(r.turns(2), "2p0+4! | 2d4+1!");
}

TEST(StepLimit, APromptIsInterruptedAndGoesOnWhereItWas) {  // 7
  Rig r = rig(1);
  r.ask(1, {.prompt = 4, .answer = 20});
  r.turns(2);
  r.ask(2, {.prompt = 11, .answer = 2});
  EXPECT_EQ(r.turns(6), "2p0+4 | 1d5+1! | 2p4+4 | 1d6+1! | 2p8+3! | 1d7+1! 2d11+1!")
      << "one prompt, always in flight: the rule that spares it would never let 1 go on";
}

TEST(StepLimit, ShortPromptsWithoutEndCountToo) {  // 3.3, last point
  Rig r = rig(1);
  r.ask(1, {.prompt = 4, .answer = 100});
  r.turns(2);
  for (SequenceId id = 2; id < 12; ++id) {
    r.ask(id, {.prompt = 3, .answer = 0});
    EXPECT_EQ(r.turn().substr(0, 2 + (id > 9)), fmt::format("{}p", id));
    EXPECT_EQ(r.turn().substr(0, 2), "1d");
  }
}

TEST(StepLimit, ChunksAreWholeWhateverTheyTake) {
  Rig r = rig(1);
  r.ask(1, {.prompt = 4, .answer = 9});
  r.turns(2);
  r.ask(2, {.prompt = 8, .answer = 9});
  EXPECT_EQ(r.turn(std::chrono::seconds(60)), "2p0+4");
  EXPECT_EQ(r.turns(2), "1d5+1! | 2p4+4!");
}

TEST(StepLimit, TheBoundGrowsWithN) {
  using namespace std::chrono_literals;
  for (const size_t n : {1U, 3U}) {
    Rig r = rig(n);
    r.ask(1, {.prompt = 4, .answer = 100});
    r.turns(2, 10ms);
    r.ask(2, {.prompt = 40, .answer = 1});
    r.turns(12, 10ms);
    EXPECT_EQ(r.scheduler.stats().gap_max, (n + 1) * 10ms);
    EXPECT_EQ(r.scheduler.stats().gap_bound, (n + 1) * 10ms);
  }
  EXPECT_FALSE(rig(0).scheduler.stats().gap_bound) << "nothing is promised";
}

}  // namespace
}  // namespace evener::sched
