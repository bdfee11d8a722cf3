// The sweep and the runner of cells below it, against a server that does what its script says.
#include <gmock/gmock.h>

#include <thread>

#include "bench/cell_runner.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/lab.h"

namespace evener::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sweep, MeasuresEachLengthOnceARoundThereAndBack) {
  Lab lab;
  lab.options.num_rounds = 2;
  lab.options.sweep.lengths = {256, 128};
  ASSERT_TRUE(lab.run(sweep_experiment));
  EXPECT_THAT(lab.keys(), ElementsAre("sweep/128/1", "sweep/256/1", "sweep/256/2", "sweep/128/2"));
  for (const CellRecord& cell : lab.notes.cells) EXPECT_EQ(cell.state, CellState::complete);
  // One that counts a cell, and a warm-up for each length that does not.
  EXPECT_THAT(lab.labels(), ElementsAre("sweep", "sweep", "sweep", "sweep"));
  EXPECT_EQ(lab.notes.requests.size(), 6);
  for (const RequestRecord& request : lab.notes.requests) {
    EXPECT_EQ(request.num_tokens_in, request.num_tokens_in_wanted);
    EXPECT_EQ(request.num_tokens_cached, 0);
    EXPECT_EQ(request.num_tokens_out, 24);
  }
  EXPECT_GE(lab.scripted.num_flushes(), 4);
}

TEST(Sweep, ChoosesLengthsThatFitTheServer) {
  Lab lab(script_with([](Script& script) { script.context_tokens = 1000; }));
  ASSERT_TRUE(lab.run(sweep_experiment));
  EXPECT_THAT(lab.keys(), ElementsAre("sweep/128/1", "sweep/256/1", "sweep/512/1", "sweep/960/1"));
}

TEST(Sweep, RefusesWhatDoesNotFitBeforeAnythingIsSent) {
  Lab lab;
  lab.options.sweep.lengths = {128, 9000};
  const Status done = lab.run(sweep_experiment);
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()),
            "cannot measure sweep: a prompt of 9000 tokens: the server takes 1 to 8152 with an "
            "answer of 24 tokens\n  ask for shorter prompts, or for shorter answers with "
            "--output-tokens");
  EXPECT_EQ(lab.scripted.bodies().size(), lab.scripted_before);
}

TEST(Sweep, VoidsACellThatWasAnsweredFromACache) {
  Lab lab;
  lab.options.sweep.lengths = {128};
  lab.scripted.set(script_with([](Script& script) { script.says_cached = true; }));
  ASSERT_TRUE(lab.run(sweep_experiment));
  EXPECT_EQ(lab.notes.cells.at(0).state, CellState::voided);
  EXPECT_TRUE(lab.found(Fault::cached_prompt));
}

TEST(Sweep, LeavesACacheAloneIfItIsToldTo) {
  Lab lab;
  lab.options.sweep.lengths = {128};
  lab.options.allow_cached = true;
  const size_t num_flushes = lab.scripted.num_flushes();
  lab.scripted.set(script_with([](Script& script) { script.says_cached = true; }));
  ASSERT_TRUE(lab.run(sweep_experiment));
  EXPECT_EQ(lab.notes.cells.at(0).state, CellState::complete);
  EXPECT_EQ(lab.scripted.num_flushes(), num_flushes);
}

TEST(Sweep, VoidsAnswersThatEndedEarly) {
  Lab lab;
  lab.options.sweep.lengths = {128};
  lab.scripted.set(script_with([](Script& script) { script.ends_at = 10; }));
  ASSERT_TRUE(lab.run(sweep_experiment));
  EXPECT_EQ(lab.notes.cells.at(0).state, CellState::voided);
  EXPECT_TRUE(lab.found(Fault::early_end));
}

TEST(Sweep, KeepsAndMarksWhatAnInterruptLeaves) {
  Lab lab;
  lab.options.sweep.lengths = {128, 256};
  lab.options.allow_cached = true;
  Script held;
  held.hold_at = 5;
  lab.scripted.set(held);
  std::thread user([&lab] {
    lab.scripted.wait_until_held();
    lab.stop = true;
  });
  EXPECT_TRUE(lab.run(sweep_experiment));
  user.join();
  lab.scripted.release();
  EXPECT_THAT(lab.keys(), ElementsAre("sweep/128/1"));
  EXPECT_EQ(lab.notes.cells.at(0).state, CellState::partial);
  EXPECT_EQ(lab.notes.requests.at(0).finish, Finish::cancelled);
  EXPECT_EQ(lab.notes.requests.at(0).events.size(), 5);
}

TEST(Sweep, EndsWithAnErrorWhenTheServerIsGone) {
  auto script = std::make_unique<Lab>();
  script->options.sweep.lengths = {128, 256};
  script->options.allow_cached = true;
  Target nowhere;
  nowhere.url = "http://127.0.0.1:1";
  const auto client = Client::create(nowhere, script->notes.start());
  ASSERT_TRUE(client);
  Bench bench = script->bench();
  bench.client = client->get();  // prompts still come from the one that runs
  const Status done = sweep_experiment.run(bench);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  EXPECT_THAT(to_string(done.error()), HasSubstr("cannot measure sweep/128/1"));
  EXPECT_EQ(script->notes.cells.at(0).state, CellState::voided);
  EXPECT_TRUE(script->found(Fault::server_down));
}

TEST(Sweep, CountsOnCountingWhereALengthCannotBeForced) {
  Lab lab(script_with([](Script& script) { script.refuses_unknown_fields = true; }));
  const Bench bench = lab.bench();
  EXPECT_EQ(text_kind(bench), TextKind::counting);
}

}  // namespace
}  // namespace evener::bench
