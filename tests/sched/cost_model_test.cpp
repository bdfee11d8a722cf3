// The cost model finds the step times of machines it has never seen, is careful before it knows
// them, and is not led astray by hiccups or by hours without a prompt.
// Method: steps whose times come from a formula.
#include "sched/cost_model.h"

#include <gtest/gtest.h>

#include <random>

namespace evener::sched {
namespace {

using std::chrono::milliseconds;

Slice prompt(size_t first_position, size_t num_tokens) {
  return {.first_position = first_position, .num_tokens = num_tokens, .kind = Slice::Kind::prompt};
}

StepWork work_of(const std::vector<Slice>& slices, double moved_pages = 0) {
  StepWork work;
  for (const Slice& slice : slices) work.add(slice);
  work.moved_pages = moved_pages;
  return work;
}

StepWork decode_work(size_t num_rows, size_t position) {
  std::vector<Slice> slices(
      num_rows, {.first_position = position, .num_tokens = 1, .kind = Slice::Kind::decode});
  return work_of(slices);
}

// A machine with step times by formula.
struct Machine {
  double step = 0.004;
  double prompt_step = 0.006;
  double prompt_token = 0.0002;
  double position = 3e-8;
  double decode_row = 0.001;
  double moved_page = 0.003;

  double seconds_of(const StepWork& work) const {
    return step + (work.prompt_tokens > 0 ? prompt_step : 0) +
           prompt_token * static_cast<double>(work.prompt_tokens) +
           position * (work.prompt_positions + 4 * work.decode_positions) +
           decode_row * static_cast<double>(work.decode_rows) + moved_page * work.moved_pages;
  }
  void run(CostModel& model, const StepWork& work, double factor = 1) const {
    model.measure(work, from_seconds(seconds_of(work) * factor));
  }
  // Some of everything.
  void teach(CostModel& model, size_t num_rounds) const {
    for (size_t i = 0; i < num_rounds; ++i) {
      run(model, work_of({prompt(64 * (i % 50), 64 + 64 * (i % 7))}));
      run(model, decode_work(1 + i % 5, 40 * i));
      if (i % 4 == 0) run(model, work_of({}, static_cast<double>(1 + i % 9)));
    }
  }
};

void expect_close(const CostModel& model, const Machine& machine, const StepWork& work,
                  double tolerance) {
  const double right = machine.seconds_of(work);
  EXPECT_NEAR(seconds(model.predict(work)), right, tolerance * right);
}

TEST(StepWork, CountsRowsAndWhatEachAttendsTo) {
  StepWork work;
  work.add(prompt(10, 3));                                                         // 11 12 13
  work.add({.first_position = 99, .num_tokens = 1, .kind = Slice::Kind::decode});  // 100
  EXPECT_EQ(work.prompt_tokens, 3U);
  EXPECT_EQ(work.decode_rows, 1U);
  EXPECT_EQ(work.prompt_positions, 11 + 12 + 13);
  EXPECT_EQ(work.decode_positions, 100);
}

TEST(CostModel, BeginsAsIfTheSmallestChunkTookTheWholeTarget) {
  const CostModel model({.max_gap = milliseconds(400), .chunk_min = 64});
  EXPECT_GE(model.predict(work_of({prompt(0, 64)})), milliseconds(400));
  EXPECT_LT(model.largest_safe_chunk({}, prompt(0, 4096), milliseconds(400)), 64U);
}

TEST(CostModel, LearnsMachinesThatDifferAThousandfold) {
  for (const double speed : {0.01, 0.1, 1.0, 10.0}) {
    SCOPED_TRACE(speed);
    const Machine machine{.step = 0.004 * speed,
                          .prompt_step = 0.006 * speed,
                          .prompt_token = 0.0002 * speed,
                          .position = 3e-8 * speed,
                          .decode_row = 0.001 * speed,
                          .moved_page = 0.003 * speed};
    CostModel model({});
    machine.teach(model, 100);
    expect_close(model, machine, work_of({prompt(2048, 300)}), 0.02);
    expect_close(model, machine, decode_work(3, 1500), 0.02);
    expect_close(model, machine, work_of({prompt(1024, 128)}, 5), 0.05);
  }
}

TEST(CostModel, AChunkFarIntoAPromptIsSmallerThanOneAtItsBeginning) {
  const Machine machine{.position = 1e-7};
  CostModel model({});
  for (size_t i = 0; i < 200; ++i) machine.run(model, work_of({prompt(256 * (i % 180), 256)}));
  const size_t early = model.largest_safe_chunk({}, prompt(0, 512), milliseconds(100));
  const size_t late = model.largest_safe_chunk({}, prompt(40'000, 512), milliseconds(100));
  EXPECT_GT(early, 350U);
  EXPECT_LT(early, 420U);
  EXPECT_LT(late, early / 10);
  EXPECT_GT(late, 0U);
}

TEST(CostModel, TheSafeChunkIsTheLargestThatFits) {
  const Machine machine;
  CostModel model({});
  machine.teach(model, 100);
  const StepWork with = decode_work(4, 500);
  const Duration limit = milliseconds(60);
  const size_t safe = model.largest_safe_chunk(with, prompt(100, 4096), limit);
  StepWork fits = with;
  fits.add(prompt(100, safe));
  StepWork exceeds = with;
  exceeds.add(prompt(100, safe + 1));
  EXPECT_LE(model.predict_high(fits), limit);
  EXPECT_GT(model.predict_high(exceeds), limit);
  EXPECT_EQ(model.largest_safe_chunk(with, prompt(100, 7), limit), 7U) << "no more than there is";
  EXPECT_EQ(model.largest_safe_chunk(with, prompt(100, 7), milliseconds(1)), 0U);
}

// Least squares alone would put a first step's time down to attention or to tokens, as it likes.
TEST(CostModel, TheFirstStepWithAPromptSaysHowFastTheMachineIs) {
  const Machine machine;
  CostModel model({});
  machine.run(model, work_of({prompt(0, 2048)}));
  expect_close(model, machine, work_of({prompt(0, 2048)}), 0.02);
  expect_close(model, machine, work_of({prompt(0, 1024)}), 0.15);
}

TEST(CostModel, AWorthwhileChunkTakesHalfOfTheStep) {
  const Machine machine;
  CostModel model({});
  machine.teach(model, 100);
  // Without the prompt's tokens a step with one decode row takes 11 ms: 55 tokens of 0.2 ms.
  EXPECT_NEAR(static_cast<double>(model.worthwhile_chunk(decode_work(1, 10), prompt(0, 512))), 55,
              3);
  // At 40,000 positions a token takes 1.4 ms.
  EXPECT_NEAR(static_cast<double>(model.worthwhile_chunk(decode_work(1, 10), prompt(40'000, 512))),
              9, 1);
  EXPECT_EQ(model.worthwhile_chunk({}, prompt(0, 7)), 7U) << "no more than there is";
}

TEST(CostModel, ChunksAtMostDoubleWhatHasBeenMeasured) {
  const Machine machine{.prompt_token = 1e-6};
  CostModel model({.chunk_min = 64});
  size_t largest = 64;
  while (largest < 4096) {
    const size_t next = model.largest_safe_chunk({}, prompt(0, 4096), std::chrono::hours(1));
    ASSERT_GT(next, largest);
    ASSERT_LE(next, 2 * largest);
    largest = next;
    machine.run(model, work_of({prompt(0, largest)}));
  }
}

TEST(CostModel, HoursOfDecodingDoNotMakeItForgetPrompts) {
  const Machine machine;
  CostModel model({});
  machine.teach(model, 100);
  for (size_t i = 0; i < 20'000; ++i) machine.run(model, decode_work(2, i));
  expect_close(model, machine, work_of({prompt(1024, 256)}), 0.1);
}

TEST(CostModel, OneHiccupChangesLittle) {
  const Machine machine;
  CostModel model({});
  machine.teach(model, 100);
  const StepWork chunk = work_of({prompt(512, 256)});
  const double before = seconds(model.predict(chunk));
  machine.run(model, chunk, 1000);
  EXPECT_LT(seconds(model.predict(chunk)), 1.5 * before);
  machine.teach(model, 30);
  expect_close(model, machine, chunk, 0.1);
}

TEST(CostModel, ALastingChangeIsFollowed) {
  Machine machine;
  CostModel model({});
  machine.teach(model, 100);
  machine.prompt_token *= 6;  // the machine got hot, or somebody else works on it
  for (size_t i = 0; i < 40; ++i) machine.run(model, work_of({prompt(64 * (i % 50), 256)}));
  expect_close(model, machine, work_of({prompt(512, 256)}), 0.1);
}

TEST(CostModel, NoiseMakesItCautious) {
  const Machine machine;
  CostModel exact({});
  CostModel noisy({});
  std::mt19937 random(1);
  std::normal_distribution<> noise(1, 0.2);
  for (size_t i = 0; i < 300; ++i) {
    const StepWork chunk = work_of({prompt(64 * (i % 50), 64 + 64 * (i % 7))});
    machine.run(exact, chunk);
    machine.run(noisy, chunk, std::max(noise(random), 0.2));
  }
  const StepWork chunk = work_of({prompt(1024, 256)});
  EXPECT_NEAR(noisy.error(), 0.16, 0.08) << "the mean of |N(0, 0.2)|";
  EXPECT_GT(seconds(noisy.predict_high(chunk)), 1.15 * seconds(noisy.predict(chunk)));
  EXPECT_LT(seconds(exact.predict_high(chunk)), 1.05 * seconds(exact.predict(chunk)));
}

TEST(CostModel, CoefficientsAreNeverNegative) {
  CostModel model({});
  std::mt19937 random(7);
  for (size_t i = 0; i < 500; ++i) {  // times that have nothing to do with the work
    const StepWork work = work_of({prompt(random() % 5000, 1 + random() % 500)});
    model.measure(work, std::chrono::microseconds(random() % 100'000));
    for (const double coefficient : model.coefficients()) ASSERT_GE(coefficient, 0);
  }
}

}  // namespace
}  // namespace evener::sched
