// Turns, places and returns of the scheduler, on queues made by hand. What must hold on any queue
// is checked by src/simulate.
#include "sched/scheduler.h"

#include <gtest/gtest.h>

#include "sched/rig.h"

namespace evener::sched {
namespace {

using namespace std::chrono_literals;

std::vector<SequenceId> ids(const Step& step) {
  std::vector<SequenceId> out;
  for (const Admission& admission : step.admitted) out.push_back(admission.sequence);
  return out;
}

TEST(Turns, WithNothingToDoTheStepIsEmpty) {
  Rig r({});
  EXPECT_TRUE(r.scheduler.next_step(r.now).empty());
  EXPECT_FALSE(r.scheduler.wake_at());
}

TEST(Turns, APromptIsReadInWholeChunksWhenNobodyIsHeldUp) {
  Rig r({.scheduler = {.prefill_chunk = 8, .max_gap = 1ms}});
  r.ask(1, {.prompt = 20, .answer = 3});
  EXPECT_EQ(r.turns(5, 10s), "1p0+8 | 1p8+8 | 1p16+4! | 1d20+1! | 1d21+1!");
  EXPECT_EQ(r.scheduler.num_running(), 0U);
}

TEST(Turns, ChunksOfSeveralPromptsShareAStep) {
  Rig r({.scheduler = {.prefill_chunk = 8}});
  r.ask(1, {.prompt = 2, .answer = 5});
  r.ask(2, {.prompt = 9, .answer = 5});
  EXPECT_EQ(r.turn(), "1p0+2! 2p0+6");
}

TEST(Turns, AChunkEndsWithAPageIfItLosesLittle) {
  Rig r({.scheduler = {.prefill_chunk = 19}});
  r.ask(1, {.prompt = 60, .answer = 5});
  EXPECT_EQ(r.turn(), "1p0+19") << "3 of 19 are more than an eighth";
  EXPECT_EQ(r.turn(), "1p19+17") << "2 of 19 are not";
}

TEST(Turns, DecodeRowsRideAlongWithPrompts) {
  Rig r({.scheduler = {.prefill_chunk = 8, .decode_share = 0}});
  r.ask(1, {.prompt = 4, .answer = 9});
  r.turns(2);
  r.ask(2, {.prompt = 16, .answer = 9});
  EXPECT_EQ(r.turn(), "1d5+1! 2p0+8");
}

TEST(Turns, WithoutMixingAStepHasOneKind) {
  Rig r({.scheduler = {.prefill_chunk = 8, .decode_share = 0, .mixed = false}});
  r.ask(1, {.prompt = 4, .answer = 9});
  r.turns(2);
  r.ask(2, {.prompt = 24, .answer = 9});
  EXPECT_EQ(r.turns(4), "2p0+8 | 1d5+1! | 2p8+8 | 1d6+1!")
      << "though nothing is owed, streams are not held up twice in a row";
}

// Teaches the cost model that a token of a prompt takes a millisecond.
void teach(Rig& r) {
  r.ask(900, {.prompt = 400, .answer = 0});
  for (size_t left = 400; left > 0;) {
    const Step step = r.scheduler.next_step(r.now);
    const size_t num_tokens = step.slices.front().num_tokens;
    left -= num_tokens;
    r.finish(step, num_tokens * 1ms);
  }
}

size_t prompt_tokens(const Step& step) {
  size_t sum = 0;
  for (const Slice& slice : step.slices) {
    if (slice.kind == Slice::Kind::prompt) sum += slice.num_tokens;
  }
  return sum;
}

TEST(TimeRule, BeforeStreamsAChunkIsAsLongAsTheTargetAllows) {
  Rig r({.scheduler = {.prefill_chunk = 400, .max_gap = 50ms, .chunk_min = 4}});
  teach(r);
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turn(4ms);
  r.ask(2, {.prompt = 400, .answer = 9});
  const Step step = r.scheduler.next_step(r.now);
  EXPECT_GE(prompt_tokens(step), 30U);
  EXPECT_LE(prompt_tokens(step), 50U);
}

TEST(TimeRule, ATurnOfAPromptIsWorthItsStepEvenIfItTakesTooLong) {
  Rig r({.scheduler = {.prefill_chunk = 400, .max_gap = 1ms, .chunk_min = 2}});
  teach(r);
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turn(4ms);
  r.ask(2, {.prompt = 400, .answer = 9});
  r.ask(3, {.prompt = 400, .answer = 9});
  EXPECT_EQ(r.turn(8ms), "1d4+1! 2p0+2") << "for one of them";
}

TEST(TimeRule, BeyondTheTargetNoMoreThanHalfOfAStepIsReading) {
  Rig r({.scheduler = {.prefill_chunk = 400, .max_gap = 1ms, .chunk_min = 64}});
  teach(r);
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turn(4ms);
  r.ask(2, {.prompt = 400, .answer = 9});
  const Step step = r.scheduler.next_step(r.now);
  EXPECT_GE(prompt_tokens(step), 1U);
  EXPECT_LE(prompt_tokens(step), 8U) << "a token takes a millisecond, the rest of a step two";
}

TEST(TimeRule, StreamsAreOwedTheTimeThatPromptsTook) {
  Rig r({.scheduler = {.prefill_chunk = 8, .decode_share = 0.5}});
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turns(2);
  r.ask(2, {.prompt = 24, .answer = 9});
  const std::string held_up = r.turn(100ms);
  EXPECT_EQ(held_up, "1d5+1! 2p0+8");
  const Duration owed = r.scheduler.stats().decode_owed;
  EXPECT_GT(owed, 50ms);
  EXPECT_LE(owed, 100ms);
  size_t num_alone = 0;
  while (r.turn(10ms).find('p') == std::string::npos) ++num_alone;
  EXPECT_EQ(num_alone, static_cast<size_t>((owed + 10ms - 1ns) / 10ms));
}

TEST(TimeRule, NothingIsOwedForPromptsThatHeldUpNobody) {
  Rig r({.scheduler = {.prefill_chunk = 8}});
  r.ask(1, {.prompt = 24, .answer = 9});
  r.turns(3, 1s);
  EXPECT_EQ(r.scheduler.stats().decode_owed, 0ns);
}

TEST(TimeRule, ADebtEndsWithTheLastStream) {
  Rig r({.scheduler = {.prefill_chunk = 8}});
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turns(2);
  r.ask(2, {.prompt = 24, .answer = 0});
  r.turn(1s);
  EXPECT_GT(r.scheduler.stats().decode_owed, 0ns);
  r.scheduler.remove(1);
  EXPECT_EQ(r.turns(2), "2p8+8 | 2p16+8");
  EXPECT_EQ(r.scheduler.stats().decode_owed, 0ns);
}

TEST(TimeRule, APromptThatHasWaitedForTheDeadlineGoesAheadWhateverIsOwed) {
  Rig r({.scheduler = {.prefill_chunk = 8, .decode_share = 0.99, .prefill_deadline = 1s}});
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turns(2);
  r.ask(2, {.prompt = 24, .answer = 9});
  EXPECT_EQ(r.turn(400ms), "1d5+1! 2p0+8");
  EXPECT_EQ(r.turns(2, 300ms), "1d6+1! | 1d7+1!") << "0.4 s and 0.7 s after its turn began";
  EXPECT_EQ(r.turn(300ms), "1d8+1! 2p8+8") << "1.0 s";
  EXPECT_EQ(r.turn(300ms), "1d9+1!") << "counted from its last turn, not from its arrival";
}

TEST(TimeRule, AStreamCountsFromItsLastChunkOn) {  // the handover, 3.3
  Rig r({.scheduler = {.prefill_chunk = 400, .max_gap = 20ms, .chunk_min = 4}});
  teach(r);
  r.ask(1, {.prompt = 40, .answer = 9});
  EXPECT_EQ(r.turn(40ms), "1p0+40!");
  r.ask(2, {.prompt = 400, .answer = 9});
  const Step step = r.scheduler.next_step(r.now);
  EXPECT_EQ(step.slices.front().kind, Slice::Kind::decode);
  EXPECT_LE(prompt_tokens(step), 20U) << "the first token of 1 is out, the second must not wait";
}

TEST(TimeRule, ObservedGapsStayWithinTheReportedBound) {
  for (const bool mixed : {true, false}) {
    Rig r({.scheduler = {.prefill_chunk = 100, .max_gap = 50ms, .chunk_min = 4, .mixed = mixed}});
    r.ask(1, {.prompt = 4, .answer = 400});
    r.turns(2);
    for (SequenceId id = 2; id < 8; ++id) r.ask(id, {.prompt = 200, .answer = 20});
    for (int i = 0; i < 300; ++i) {
      const Step step = r.scheduler.next_step(r.now);
      if (step.empty()) break;
      r.finish(step, step.slices.size() * 1ms + prompt_tokens(step) * 1ms);
    }
    const SchedulerStats stats = r.scheduler.stats();
    EXPECT_GT(stats.gap_max, 5ms);
    EXPECT_LE(stats.gap_max, stats.gap_bound);
  }
}

TEST(Logits, AreWantedOfTheLastRowOnlyUnlessAskedFor) {
  Rig r({.scheduler = {.prefill_chunk = 100, .prompt_logit_rows = 4}});
  r.ask(1, {.prompt = 10, .answer = 0, .prompt_logits = true});
  r.ask(2, {.prompt = 10, .answer = 0});
  EXPECT_EQ(r.turn(), "1p0+4* 2p0+10");
}

TEST(Logits, WhoWantsThemAllIsGivenNoMatch) {
  Rig r({.scheduler = {.prefill_chunk = 100, .prompt_logit_rows = 100}});
  r.ask(1, {.prompt = 10, .answer = 1});
  EXPECT_EQ(r.turn(), "1p0+10!");
  Arrival same;
  same.newcomer = {.id = 2, .tokens = std::vector<cache::TokenId>(10, 1)};
  same.prompt_logits = true;
  r.left[2] = 0;
  r.scheduler.add(same);
  EXPECT_EQ(r.turn(), "2p0+10*");
}

TEST(Places, AreGivenInOrderOfArrivalAndAsSoonAsTheyAreFree) {
  Rig r({.scheduler = {.max_sequences = 2, .prefill_chunk = 100}});
  for (const SequenceId id : {1U, 2U, 3U}) r.ask(id, {.prompt = 1, .answer = 9});
  Step step = r.scheduler.next_step(r.now);
  EXPECT_EQ(ids(step), (std::vector<SequenceId>{1, 2}));
  r.finish(step, 1ms);
  r.scheduler.remove(1);
  step = r.scheduler.next_step(r.now);
  while (step.admitted.empty()) {
    r.finish(step, 1ms);
    step = r.scheduler.next_step(r.now);
  }
  EXPECT_EQ(ids(step), std::vector<SequenceId>{3});
}

TEST(Places, TheSmallerPriorityGoesFirst) {
  Rig r({.scheduler = {.max_sequences = 1, .prefill_chunk = 100}});
  r.ask(1, {.priority = 5});
  r.ask(2, {.priority = 0});
  r.ask(3, {.priority = -5});
  EXPECT_EQ(r.turns(3), "3p0+1! | 2p0+1! | 1p0+1!");
}

TEST(Places, ASmallSequenceDoesNotOvertakeALargeOne) {
  Rig r({.scheduler = {.prefill_chunk = 100}, .residency = {.page_size = 4, .num_pages = 10}});
  r.ask(1, {.prompt = 24, .answer = 9});
  r.turn();
  r.ask(2, {.prompt = 32, .answer = 1});
  r.ask(3, {.prompt = 1, .answer = 1});
  EXPECT_TRUE(ids(r.scheduler.next_step(r.now)).empty());
}

TEST(Places, WhoIsAloneMayHaveTheWholePool) {
  Rig r({.scheduler = {.prefill_chunk = 100}, .residency = {.page_size = 4, .num_pages = 10}});
  EXPECT_EQ(r.scheduler.tokens_max(), 40U);
  EXPECT_EQ(r.ask(1, {.prompt = 30, .answer = 10}).outcome, AddOutcome::queued);
  EXPECT_EQ(r.turn(), "1p0+30!");
  for (int i = 0; i < 9; ++i) r.turn();
  EXPECT_EQ(r.scheduler.num_running(), 0U);
  EXPECT_EQ(r.ask(2, {.prompt = 31, .answer = 10}).outcome, AddOutcome::too_large);
}

TEST(Places, StateSlotsAreNotPaidForWithPages) {
  Rig r({.scheduler = {.prefill_chunk = 100},
         .residency = {.page_size = 4, .num_pages = 100, .num_state_slots = 1}});
  r.ask(1, {.prompt = 4, .answer = 9});
  r.ask(2, {.prompt = 4, .answer = 9});
  EXPECT_EQ(ids(r.scheduler.next_step(r.now)), std::vector<SequenceId>{1});
}

TEST(Places, AFullPoolIsForgottenTheMomentItIsNotFull) {  // no sticky flag
  Rig r({.scheduler = {.prefill_chunk = 100}, .residency = {.page_size = 4, .num_pages = 10}});
  r.ask(1, {.prompt = 30, .answer = 9});
  r.turn();
  r.ask(2, {.prompt = 30, .answer = 9});
  for (int i = 0; i < 3; ++i) r.turn();
  EXPECT_EQ(r.scheduler.num_waiting(), 1U);
  r.scheduler.remove(1);
  EXPECT_EQ(r.turn(), "2p0+30!");
}

TEST(Clients, TakeTurnsHoweverMuchOneOfThemAsks) {
  Rig r({.scheduler = {.max_sequences = 1, .prefill_chunk = 100}});
  for (const SequenceId id : {1U, 2U, 3U}) r.ask(id, {.prompt = 8, .answer = 1, .client = 7});
  for (const SequenceId id : {4U, 5U}) r.ask(id, {.prompt = 8, .answer = 1, .client = 8});
  EXPECT_EQ(r.turns(5, 10ms), "1p0+8! | 4p0+8! | 2p0+8! | 5p0+8! | 3p0+8!");
}

TEST(Clients, ServiceIsMeasuredInTimeNotInRequests) {
  Rig r({.scheduler = {.max_sequences = 1, .prefill_chunk = 100}});
  r.ask(1, {.prompt = 8, .answer = 1, .client = 7});
  r.ask(2, {.prompt = 8, .answer = 1, .client = 7});
  for (const SequenceId id : {3U, 4U, 5U, 6U}) r.ask(id, {.prompt = 8, .answer = 1, .client = 8});
  EXPECT_EQ(r.turn(30ms), "1p0+8!");
  EXPECT_EQ(r.turns(5, 10ms), "3p0+8! | 4p0+8! | 5p0+8! | 2p0+8! | 6p0+8!");
}

TEST(Clients, ChunksOfTwoGiantsAlternate) {
  Rig r({.scheduler = {.prefill_chunk = 8}});
  r.ask(1, {.prompt = 32, .answer = 1, .client = 7});
  r.ask(2, {.prompt = 32, .answer = 1, .client = 8});
  EXPECT_EQ(r.turns(4), "1p0+8 | 2p0+8 | 1p8+8 | 2p8+8");
}

TEST(Queue, IsLimited) {
  Rig r({.scheduler = {.max_sequences = 1, .max_queued = 2}});
  r.ask(1, {.prompt = 1, .answer = 9});
  r.turn();
  EXPECT_EQ(r.ask(2, {}).outcome, AddOutcome::queued);
  EXPECT_EQ(r.ask(3, {.priority = 1}).outcome, AddOutcome::queued);
  EXPECT_EQ(r.ask(4, {.priority = 1}).outcome, AddOutcome::queue_full) << "no better than 3";
  const Added better = r.ask(5, {.priority = 0});
  EXPECT_EQ(better.outcome, AddOutcome::queued);
  EXPECT_EQ(better.displaced, 3U);
  EXPECT_EQ(r.scheduler.num_waiting(), 2U);
}

TEST(Queue, FreePlacesDoNotCount) {
  Rig r({.scheduler = {.max_sequences = 2, .max_queued = 0}});
  EXPECT_EQ(r.ask(1, {}).outcome, AddOutcome::queued);
  EXPECT_EQ(r.ask(2, {}).outcome, AddOutcome::queued);
  EXPECT_EQ(r.ask(3, {}).outcome, AddOutcome::queue_full);
}

TEST(Queue, KnowsHowLongAPlaceTakesToGet) {
  Rig r({.scheduler = {.max_sequences = 1}});
  for (SequenceId id = 1; id <= 40; ++id) r.ask(id, {.prompt = 4, .answer = 1});
  EXPECT_EQ(r.scheduler.stats().usual_wait, 0s);
  r.turns(30, 1s);  // one place a second or two: the tenth or so has waited that often
  const Duration wait = r.scheduler.stats().usual_wait;
  EXPECT_GT(wait, 10s);
  EXPECT_LT(wait, 30s);
}

TEST(Queue, EndsForThoseWhoWaitTooLong) {
  Rig r({.scheduler = {.max_sequences = 1, .queue_timeout = 5s}});
  r.ask(1, {.prompt = 1, .answer = 99});
  r.turn();
  r.now = 1s;
  r.ask(2, {});
  EXPECT_EQ(r.scheduler.wake_at(), 6s);
  EXPECT_TRUE(r.scheduler.expired(6s - 1ns).empty());
  EXPECT_EQ(r.scheduler.expired(6s), std::vector<SequenceId>{2});
  EXPECT_EQ(r.scheduler.num_waiting(), 0U);
  EXPECT_EQ(r.scheduler.num_running(), 1U) << "who runs has no such limit";
}

TEST(Remove, WorksInEveryPhase) {
  Rig r({.scheduler = {.max_sequences = 1, .prefill_chunk = 4}});
  r.ask(1, {.prompt = 100, .answer = 1});
  r.ask(2, {.prompt = 1, .answer = 9});
  r.ask(3, {.prompt = 1, .answer = 9});
  r.turn();
  r.scheduler.remove(2);   // waits
  r.scheduler.remove(1);   // reads
  r.scheduler.remove(77);  // unknown
  EXPECT_EQ(r.turn(), "3p0+1!");
  r.scheduler.remove(3);  // gives tokens
  EXPECT_TRUE(r.scheduler.next_step(r.now).empty());
  EXPECT_EQ(r.residency.stats().pages_private + r.residency.stats().pages_shared, 0U);
}

// A pool that seems to hold two answers of 30 tokens, and does not.
Rig crowded() {
  return Rig({.scheduler = {.prefill_chunk = 100}, .residency = {.page_size = 4, .num_pages = 16}});
}

TEST(Retraction, SendsBackWhoHasGivenLeastAndLetsAllEnd) {
  Rig r = crowded();
  r.ask(2, {.prompt = 8, .answer = 30});
  r.turns(5);
  r.ask(1, {.prompt = 8, .answer = 30});
  std::vector<SequenceId> retracted;
  for (int i = 0; i < 200 && r.scheduler.num_running() + r.scheduler.num_waiting() > 0; ++i) {
    const Step step = r.scheduler.next_step(r.now);
    retracted.insert(retracted.end(), step.retracted.begin(), step.retracted.end());
    r.finish(step, 1ms);
  }
  EXPECT_EQ(retracted, std::vector<SequenceId>{1});
  EXPECT_EQ(r.scheduler.num_running() + r.scheduler.num_waiting(), 0U);
  EXPECT_EQ(r.scheduler.stats().num_retractions, 1U);
}

TEST(Retraction, GoesOnWithWhatTheTreeHasKept) {
  Rig r = crowded();
  r.ask(1, {.prompt = 8, .answer = 30});
  r.turns(3);
  r.ask(2, {.prompt = 8, .answer = 30});
  bool was_resumed = false;
  for (int i = 0; i < 200 && r.scheduler.num_running() + r.scheduler.num_waiting() > 0; ++i) {
    const Step step = r.scheduler.next_step(r.now);
    for (const Admission& admission : step.admitted) {
      if (!admission.resumed) continue;
      was_resumed = true;
      EXPECT_GE(admission.match.num_tokens, 8U);
    }
    r.finish(step, 1ms);
  }
  EXPECT_TRUE(was_resumed);
}

TEST(Retraction, KeepsItsPlaceInTheQueue) {
  Rig r = crowded();
  r.ask(1, {.prompt = 8, .answer = 30});
  r.now += 1s;
  r.ask(2, {.prompt = 8, .answer = 30});
  std::vector<SequenceId> order;
  for (int i = 0; i < 300 && r.scheduler.num_running() + r.scheduler.num_waiting() > 0; ++i) {
    const Step step = r.scheduler.next_step(r.now);
    if (!step.retracted.empty() && r.left.size() == 2) r.ask(3, {.prompt = 4, .answer = 4});
    for (const Admission& admission : step.admitted) order.push_back(admission.sequence);
    r.finish(step, 1ms);
  }
  const auto first_of_3 = std::ranges::find(order, SequenceId{3});
  ASSERT_NE(first_of_3, order.end());
  EXPECT_EQ(std::count(order.begin(), first_of_3, SequenceId{2}), 2) << "before the later one";
}

TEST(Failures, AFailedStepSendsItsSequencesBack) {
  Rig r({.scheduler = {.prefill_chunk = 8}});
  r.ask(1, {.prompt = 16, .answer = 3});
  r.turn();
  (void)r.scheduler.next_step(r.now);
  r.scheduler.step_failed(r.now);
  EXPECT_EQ(r.scheduler.num_waiting(), 1U);
  EXPECT_EQ(r.turns(2), "1p8+8! | 1d16+1!") << "with what had been computed before";
}

// A tier that has everything, though maybe not for long.
class FullStore : public cache::StoredEntries {
 public:
  bool contains(const cache::EntryKey&) const override { return has_it; }
  bool wants(const cache::EntryKey&) const override { return false; }
  bool has_it = true;
};

TEST(Restores, ComeBeforeTheRowsThatNeedThem) {
  const FullStore store;
  Rig r({.scheduler = {.prefill_chunk = 100}, .stored = &store});
  r.ask(1, {.prompt = 21, .answer = 1});
  EXPECT_EQ(r.turn(), "(load 5) 1p20+1!");
}

TEST(Restores, ArePutOffBeforeStreams) {
  FullStore store;
  Rig r({.scheduler = {.prefill_chunk = 100, .max_gap = 100ms, .decode_share = 0, .chunk_min = 4},
         .stored = &store});
  store.has_it = false;
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turns(2);
  store.has_it = true;
  r.ask(2, {.prompt = 81, .answer = 1});
  size_t num_steps = 0;
  size_t num_loads = 0;
  while (num_loads < 20) {
    const Step step = r.scheduler.next_step(r.now);
    ASSERT_EQ(step.slices.front().sequence, 1U) << "the stream goes on";
    const size_t loads_here = static_cast<size_t>(
        std::ranges::count_if(step.transfers, [](const auto& t) { return t.is_load(); }));
    ASSERT_GE(loads_here, 1U);
    num_loads += loads_here;
    r.finish(step, 1ms + loads_here * 30ms);
    ++num_steps;
  }
  EXPECT_EQ(num_loads, 20U);
  EXPECT_GE(num_steps, 6U) << "600 ms in steps of at most 100";
}

TEST(Restores, OneThatFindsNothingSendsItsSequenceBack) {
  FullStore store;
  Rig r({.scheduler = {.prefill_chunk = 100}, .stored = &store});
  r.ask(1, {.prompt = 21, .answer = 1});
  const Step step = r.scheduler.next_step(r.now);
  EXPECT_EQ(text(step), "(load 5) 1p20+1!");
  store.has_it = false;
  r.scheduler.load_failed(1, r.now);
  r.scheduler.step_done(r.now, r.now + 1ms);
  EXPECT_EQ(r.turn(), "1p0+21!");
}

TEST(Restores, OfARetractedSequenceBeginAnew) {
  FullStore store;
  Rig r({.scheduler = {.prefill_chunk = 100, .max_gap = 1ms, .decode_share = 0.9, .chunk_min = 4},
         .residency = {.page_size = 4, .num_pages = 16},
         .stored = &store});
  store.has_it = false;
  r.ask(1, {.prompt = 4, .answer = 44});
  r.turns(2);
  store.has_it = true;
  r.ask(2, {.prompt = 25, .answer = 1});
  size_t num_loads = 0;
  while (r.scheduler.num_running() + r.scheduler.num_waiting() > 0) {
    const Step step = r.scheduler.next_step(r.now);
    if (!step.retracted.empty()) {
      EXPECT_EQ(step.retracted, std::vector<SequenceId>{2});
      EXPECT_LT(num_loads, 6U) << "in the middle of it";
      num_loads = 0;
    }
    const auto num_here =
        std::ranges::count_if(step.transfers, [](auto& t) { return t.is_load(); });
    num_loads += static_cast<size_t>(num_here);
    r.finish(step, 1ms + num_here * 30ms);
  }
  EXPECT_EQ(r.scheduler.stats().num_retractions, 1U);
  EXPECT_EQ(num_loads, 6U) << "none of the first time, whose pages are others' now";
}

TEST(Restores, OfACancelledSequenceAreDropped) {
  FullStore store;
  Rig r({.scheduler = {.prefill_chunk = 100, .max_gap = 1ms, .chunk_min = 4}, .stored = &store});
  store.has_it = false;
  r.ask(1, {.prompt = 4, .answer = 99});
  r.turns(2);
  store.has_it = true;
  r.ask(2, {.prompt = 81, .answer = 1});
  const std::string partly_restored = r.turn();
  EXPECT_NE(partly_restored.find("(load "), std::string::npos);
  EXPECT_EQ(partly_restored.find("2p"), std::string::npos) << "it waits for the others";
  r.scheduler.remove(2);
  EXPECT_EQ(r.turn(), "1d6+1!");
}

}  // namespace
}  // namespace evener::sched
