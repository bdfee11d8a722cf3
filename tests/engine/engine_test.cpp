// Lives of sequences: limits, ends, queues, cancelling, draining. Runs on small golden models.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "engine/models.h"

namespace evener::engine {
namespace {

using namespace std::chrono_literals;

const std::vector<TokenId> kPrompt = {10, 20, 30, 40, 50};

std::vector<TokenId> long_prompt(size_t size) { return std::vector<TokenId>(size, 33); }

void expect_all_free(const Stats& stats) {
  EXPECT_EQ(stats.running, 0U);
  EXPECT_EQ(stats.waiting, 0U);
  EXPECT_EQ(stats.cache.pages_private, 0U);
  EXPECT_EQ(stats.cache.pages_shared, 0U);
  EXPECT_EQ(stats.cache.slots_own, 0U);
}

TEST(EngineFacts, SayWhatWasLoaded) {
  const auto engine = start(small_options("qwen35"));
  const ModelFacts& facts = engine->facts();
  EXPECT_EQ(facts.id, "qwen35");
  EXPECT_EQ(facts.family, "qwen35");
  EXPECT_EQ(facts.quantisation, "F32");
  EXPECT_EQ(facts.admissible_tokens, 256U);
  EXPECT_EQ(facts.max_sequences, 4U);
  EXPECT_FALSE(facts.hash.empty());
  EXPECT_NE(facts.hash, start(small_options("llama"))->facts().hash);
  EXPECT_GT(facts.num_parameters, 1000U);
  EXPECT_EQ(facts.context_limit, ModelFacts::ContextLimit::option);
  EXPECT_EQ(facts.pool_tokens, 1024U);
  EXPECT_EQ(engine->stats().cache.num_slots, 20U) << "four answers, and four snapshots for each";
  EXPECT_EQ(engine->stats().cache.num_pages, 16U);
}

TEST(EngineFacts, TheBundledModelIsThereWithoutAnyFile) {
  const auto engine = start(small_options(""));
  EXPECT_EQ(engine->facts().id, "evener-tiny35");
  EXPECT_EQ(engine->facts().family, "qwen35");
  EXPECT_EQ(engine->facts().quantisation, "Q8_0");
  EXPECT_FALSE(engine->facts().chat_template.empty());
}

TEST(EngineLoad, ReportsPhasesInOrderAndStopsWhenToldTo) {
  std::vector<LoadState::Phase> phases;
  auto engine = Engine::create(small_options(), [&](const LoadState& state) {
    EXPECT_GE(state.fraction, 0);
    EXPECT_LE(state.fraction, 1);
    if (phases.empty() || phases.back() != state.phase) phases.push_back(state.phase);
    return true;
  });
  ASSERT_TRUE(engine.has_value());
  using Phase = LoadState::Phase;
  EXPECT_EQ(phases, (std::vector<Phase>{Phase::map, Phase::pack, Phase::warm, Phase::ready}));

  for (const Phase last : {Phase::map, Phase::pack, Phase::warm}) {
    engine = Engine::create(small_options(),
                            [last](const LoadState& state) { return state.phase != last; });
    ASSERT_FALSE(engine.has_value());
    EXPECT_EQ(engine.error().code, Code::cancelled);
  }
}

TEST(EngineLoad, BadOptionsAreNamed) {
  EngineOptions options = small_options();
  options.kv_type = "q3";
  auto engine = Engine::create(options, {});
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(to_string(engine.error()),
            "cannot load model: kv_type: 'q3' is none of f32, f16, q8_0 and fp8");
  options = small_options();
  options.prefill_chunk = 0;
  engine = Engine::create(options, {});
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(to_string(engine.error()),
            "cannot load model: prefill_chunk: must be between 1 and 8192, not 0");
  options = small_options();
  options.parallel.devices = {"gpu:0"};
  EXPECT_FALSE(Engine::create(options, {}).has_value());
  options = small_options("no-such-model");
  engine = Engine::create(options, {});
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, Code::not_found);
}

TEST(EngineLoad, TooLittleMemoryIsSaidBeforeAnyWeightIsPacked) {
  EngineOptions options = small_options();
  options.memory_bytes_max = 500'000;
  bool packed = false;
  const auto engine = Engine::create(options, [&packed](const LoadState& state) {
    packed = packed || state.phase != LoadState::Phase::map;
    return true;
  });
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, Code::out_of_memory);
  EXPECT_NE(engine.error().why.find("weights + "), std::string::npos) << engine.error().why;
  EXPECT_NE(engine.error().why.find("for one context of 256 tokens), 488 KiB are available"),
            std::string::npos)
      << engine.error().why;
  EXPECT_FALSE(packed);
}

TEST(EngineLength, WhatIsAdmissibleIsAdmittedAndNotATokenMore) {
  for (const char* model : {"llama", "qwen35"}) {
    const auto engine = start(small_options(model));
    const size_t admissible = engine->facts().admissible_tokens;
    const Answer answer = generate(*engine, greedy(long_prompt(admissible - 1), 100));
    EXPECT_EQ(answer.tokens.size(), 1U);
    EXPECT_EQ(answer.finish, FinishReason::length);

    const auto id = engine->submit(greedy(long_prompt(admissible), 1), [](Update) {});
    ASSERT_FALSE(id.has_value());
    EXPECT_EQ(id.error().code, Code::context_overflow);
    EXPECT_EQ(id.error().why,
              "This model's maximum context length is 256 tokens. However, your request has 256 "
              "input tokens, which leaves no room for an answer. Please reduce the length of the "
              "messages.");
    EXPECT_EQ(generate(*engine, greedy(kPrompt, SIZE_MAX)).tokens.size(), admissible - 5);
  }
}

TEST(EngineLength, AContextThatIsNoMultipleOfAPageIsExactToo) {
  EngineOptions options = small_options();
  options.context_length = 250;
  const auto engine = start(options);
  EXPECT_EQ(engine->facts().admissible_tokens, 250U);
  EXPECT_EQ(generate(*engine, greedy(long_prompt(249), 5)).tokens.size(), 1U);
  EXPECT_EQ(generate(*engine, greedy(long_prompt(1), SIZE_MAX)).tokens.size(), 249U);
  EXPECT_FALSE(engine->submit(greedy(long_prompt(250), 1), [](Update) {}).has_value());
}

// Method: the least memory with which the model starts at all.
TEST(EngineLength, WhenMemoryShortensTheContextWhatIsSaidIsStillAdmitted) {
  EngineOptions options = small_options("llama-yarn");
  options.context_length = 0;
  std::unique_ptr<Engine> engine;
  for (options.memory_bytes_max = 400'000; !engine; options.memory_bytes_max += 20'000) {
    auto created = Engine::create(options, {});
    if (created) engine = std::move(*created);
  }
  const size_t admissible = engine->facts().admissible_tokens;
  ASSERT_LT(engine->stats().cache.num_pages * 64, 2 * admissible) << "the pool holds one at a time";
  std::vector<Listener> listeners(3);
  for (Listener& listener : listeners) {
    const auto id = engine->submit(greedy(long_prompt(admissible - 1), 5), listener.sink());
    ASSERT_TRUE(id.has_value());
  }
  for (Listener& listener : listeners) EXPECT_EQ(listener.wait().tokens.size(), 1U);
  EXPECT_FALSE(engine->submit(greedy(long_prompt(admissible), 1), [](Update) {}).has_value());
}

TEST(EngineSubmit, RefusesWhatCannotRun) {
  const auto engine = start(small_options());
  const auto refusal = [&](GenerationRequest request) {
    const auto id = engine->submit(std::move(request), [](Update) { ADD_FAILURE(); });
    EXPECT_FALSE(id.has_value());
    EXPECT_EQ(id.error().code, Code::invalid_argument);
    return to_string(id.error());
  };
  EXPECT_EQ(refusal(greedy({}, 5)), "cannot accept the request: prompt: is empty");
  EXPECT_EQ(refusal(greedy({5, -1}, 5)),
            "cannot accept the request: prompt: token -1 is not in the vocabulary of 320");
  EXPECT_EQ(refusal(greedy({320}, 5)),
            "cannot accept the request: prompt: token 320 is not in the vocabulary of 320");
  GenerationRequest request = greedy(kPrompt, 5);
  request.sampling.top_p = 2;
  EXPECT_EQ(refusal(std::move(request)), "cannot sample: top_p: must be between 0 and 1, not 2");
  request = greedy(kPrompt, 5);
  request.stop = {""};
  EXPECT_EQ(refusal(std::move(request)), "cannot accept the request: stop: has an empty entry");
  request = greedy(kPrompt, 5);
  request.num_top_logprobs = 1000;
  EXPECT_EQ(refusal(std::move(request)),
            "cannot accept the request: top_logprobs: must be at most 128");
}

TEST(EngineQueue, AHundredSequencesGoThroughFourPlaces) {
  const auto engine = start(small_options("qwen35"));
  std::vector<Listener> listeners;
  std::vector<SequenceId> order;  // of first tokens; written by the engine's thread alone
  for (size_t i = 0; i < 100; ++i) {
    listeners.emplace_back([&order](const Update& update) {
      if (update.num_generated_tokens == 1) order.push_back(update.id);
    });
    const auto id = engine->submit(greedy(long_prompt(1 + i % 50), 3), listeners[i].sink());
    ASSERT_TRUE(id.has_value());
    ASSERT_EQ(*id, i + 1);
  }
  for (Listener& listener : listeners) {
    const Answer& answer = listener.wait();
    EXPECT_EQ(answer.tokens.size(), 3U);
    EXPECT_EQ(answer.finish, FinishReason::length);
  }
  EXPECT_TRUE(std::ranges::is_sorted(order)) << "first come, first served";
  const Stats stats = engine->stats();
  expect_all_free(stats);
  EXPECT_EQ(stats.requests, 100U);
  EXPECT_EQ(stats.generated_tokens, 300U);
  EXPECT_EQ(stats.prompt_tokens, 2U * 50 * 51 / 2);
  EXPECT_GT(stats.steps, 50U);
}

TEST(EngineCancel, ARunningSequenceEndsAndFreesWhatItHeld) {
  const auto engine = start(small_options("qwen35"));
  Listener listener;
  const auto id = engine->submit(greedy(kPrompt, 200), listener.sink());
  ASSERT_TRUE(id.has_value());
  listener.wait_for_tokens(2);
  engine->cancel(*id);
  engine->cancel(*id);
  engine->cancel(999);
  const Answer& answer = listener.wait();
  EXPECT_EQ(answer.finish, FinishReason::cancelled);
  EXPECT_LT(answer.tokens.size(), 200U);
  expect_all_free(engine->stats());
  EXPECT_EQ(engine->stats().cancelled, 1U);
}

// The loop is held in its first step, so that both are cancelled while neither can get further.
TEST(EngineCancel, ASequenceThatWaitsOrReadsItsPromptEndsToo) {
  EngineOptions options = small_options();
  options.max_sequences = 1;
  options.prefill_chunk = 1;
  const auto engine = start(options);
  std::latch reading_began(1);
  std::latch cancelled(1);
  Listener reader([&](const Update& update) {
    if (update.num_prefilled_tokens != 1 || update.finish) return;
    reading_began.count_down();
    cancelled.wait();
  });
  Listener waiter;
  const auto reading = engine->submit(greedy(long_prompt(200), 5), reader.sink());
  const auto waiting = engine->submit(greedy(kPrompt, 5), waiter.sink());
  reading_began.wait();
  engine->cancel(*waiting);
  engine->cancel(*reading);
  cancelled.count_down();
  EXPECT_EQ(waiter.wait().finish, FinishReason::cancelled);
  EXPECT_TRUE(waiter.wait().tokens.empty());
  EXPECT_EQ(reader.wait().finish, FinishReason::cancelled);
  EXPECT_EQ(reader.wait().last.num_prefilled_tokens, 1U);
  expect_all_free(engine->stats());
}

// From the sink itself, as a server does whose client has gone.
TEST(EngineCancel, FromTheSinkItTakesOneStep) {
  const auto engine = start(small_options());
  std::atomic<SequenceId> id = 0;
  std::atomic<size_t> updates_after = 0;
  Listener listener([&](const Update& update) {
    if (update.num_generated_tokens == 4) engine->cancel(update.id);
    if (update.num_generated_tokens > 4) ++updates_after;
  });
  ASSERT_TRUE(engine->submit(greedy(kPrompt, 100), listener.sink()).has_value());
  EXPECT_EQ(listener.wait().tokens.size(), 4U);
  EXPECT_EQ(updates_after, 0U);
}

TEST(EngineDrain, LetsRunningOnesFinishAndRefusesNewOnes) {
  const auto engine = start(small_options());
  Listener listener;
  ASSERT_TRUE(engine->submit(greedy(kPrompt, 50), listener.sink()).has_value());
  engine->drain(std::chrono::milliseconds::max());
  EXPECT_EQ(listener.wait().tokens.size(), 50U);
  const auto late = engine->submit(greedy(kPrompt, 5), [](Update) { ADD_FAILURE(); });
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::unavailable);
  engine->drain(0ms);
}

TEST(EngineDrain, WithoutPatienceCancelsTheRest) {
  EngineOptions options = small_options();
  options.max_sequences = 1;
  const auto engine = start(options);
  Listener listeners[3];
  for (Listener& listener : listeners) {
    ASSERT_TRUE(engine->submit(greedy(kPrompt, 250), listener.sink()).has_value());
  }
  engine->drain(0ms);
  EXPECT_EQ(listeners[2].wait().finish, FinishReason::cancelled);
  expect_all_free(engine->stats());
}

TEST(EngineEnd, DestroyingItCancelsWithALastUpdateForEach) {
  Listener listeners[6];
  {
    const auto engine = start(small_options());
    for (Listener& listener : listeners) {
      ASSERT_TRUE(engine->submit(greedy(kPrompt, 250), listener.sink()).has_value());
    }
  }
  for (Listener& listener : listeners) {
    EXPECT_TRUE(listener.wait().finish.has_value());
  }
}

TEST(EngineFinish, StopTextsEndTheAnswerAcrossTokenBorders) {
  const auto engine = start(small_options(""));
  const auto prompt = engine->tokenizer().encode("Once upon a time");
  const Answer whole = generate(*engine, greedy(prompt, 60));
  ASSERT_GT(whole.text.size(), 100U);
  for (size_t begin = 1; begin < 60; begin += 7) {
    for (const size_t size : {1U, 4U, 20U}) {
      GenerationRequest request = greedy(prompt, 60);
      request.stop = {"never said", whole.text.substr(begin, size)};
      const Answer answer = generate(*engine, std::move(request));
      EXPECT_EQ(answer.finish, FinishReason::stop);
      const size_t first = whole.text.find(whole.text.substr(begin, size));
      EXPECT_EQ(answer.text, whole.text.substr(0, first));
      EXPECT_LE(answer.tokens.size(), whole.tokens.size());
    }
  }
}

TEST(EngineFinish, ATextThatOnlyBeginsLikeAStopIsWhole) {
  const auto engine = start(small_options(""));
  const auto prompt = engine->tokenizer().encode("Once upon a time");
  const Answer whole = generate(*engine, greedy(prompt, 30));
  GenerationRequest request = greedy(prompt, 30);
  request.stop = {whole.text + "x", whole.text.substr(whole.text.size() - 5) + "x"};
  const Answer answer = generate(*engine, std::move(request));
  EXPECT_EQ(answer.text, whole.text);
  EXPECT_EQ(answer.finish, FinishReason::length);
}

TEST(EngineFinish, EndOfGenerationStopsUnlessIgnored) {
  const auto engine = start(small_options(""));
  const auto prompt =
      engine->tokenizer().encode("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n",
                                 {.special = tokenizer::SpecialTokens::parse});
  GenerationRequest request = greedy(prompt, 100);
  request.ignore_eos = false;
  const Answer answer = generate(*engine, request);
  EXPECT_EQ(answer.finish, FinishReason::stop);
  ASSERT_LT(answer.tokens.size(), 100U);
  EXPECT_TRUE(engine->tokenizer().is_eog(answer.tokens.back()));
  EXPECT_EQ(answer.text.find("<|"), std::string::npos);

  request.ignore_eos = true;
  EXPECT_EQ(generate(*engine, request).tokens.size(), 100U);

  request.ignore_eos = false;
  request.min_new_tokens = answer.tokens.size() + 5;
  const Answer longer = generate(*engine, request);
  EXPECT_GE(longer.tokens.size(), request.min_new_tokens);
  for (size_t i = 0; i < request.min_new_tokens; ++i) {
    EXPECT_FALSE(engine->tokenizer().is_eog(longer.tokens[i]));
  }
}

TEST(EngineFinish, StopTokensEndTheAnswerAndAreNotInItsText) {
  const auto engine = start(small_options());
  const Answer whole = generate(*engine, greedy(kPrompt, 10));
  GenerationRequest request = greedy(kPrompt, 10);
  request.stop_token_ids = {whole.tokens[4]};
  const Answer answer = generate(*engine, request);
  EXPECT_EQ(answer.finish, FinishReason::stop);
  const auto first = std::ranges::find(whole.tokens, whole.tokens[4]) - whole.tokens.begin();
  EXPECT_EQ(answer.tokens.size(), static_cast<size_t>(first) + 1);
}

TEST(EngineFinish, ZeroNewTokensOnlyReadsThePrompt) {
  const auto engine = start(small_options());
  const Answer answer = generate(*engine, greedy(kPrompt, 0));
  EXPECT_TRUE(answer.tokens.empty());
  EXPECT_EQ(answer.finish, FinishReason::length);
  EXPECT_EQ(answer.last.num_prefilled_tokens, kPrompt.size());
}

// Random weights say random tokens: bytes that are half characters among them.
TEST(EngineText, IsWholeCharactersInEveryUpdate) {
  const auto engine = start(small_options());
  for (uint64_t seed = 0; seed < 10; ++seed) {
    GenerationRequest request = greedy(kPrompt, 100);
    request.sampling.temperature = 3;
    request.sampling.seed = seed;
    std::string text;
    std::string bytes;
    Listener listener([&](const Update& update) {
      EXPECT_TRUE(utf8::is_valid(update.text));
      text += update.text;
      for (const TokenOutput& output : update.tokens) bytes += output.chosen.bytes;
    });
    request.skip_special_tokens = false;
    ASSERT_TRUE(engine->submit(std::move(request), listener.sink()).has_value());
    listener.wait();
    EXPECT_EQ(text, utf8::replace_invalid(bytes));
  }
}

TEST(EngineUpdates, TellProgressAndTimes) {
  EngineOptions options = small_options();
  options.prefill_chunk = 10;
  const auto engine = start(options);
  std::vector<size_t> prefilled;
  Listener listener(
      [&](const Update& update) { prefilled.push_back(update.num_prefilled_tokens); });
  ASSERT_TRUE(engine->submit(greedy(long_prompt(25), 3), listener.sink()).has_value());
  const Answer& answer = listener.wait();
  EXPECT_EQ(prefilled, (std::vector<size_t>{10, 20, 25, 25, 25}));
  EXPECT_EQ(answer.last.num_prompt_tokens, 25U);
  EXPECT_EQ(answer.last.num_generated_tokens, 3U);
  EXPECT_GT(answer.last.timing.prefill.count(), 0);
  EXPECT_GT(answer.last.timing.decode.count(), 0);
  EXPECT_GE(answer.last.timing.queued.count(), 0);
}

TEST(EngineLogprobs, AreGivenForAnswerAndPrompt) {
  const auto engine = start(small_options());
  GenerationRequest request = greedy(long_prompt(70), 5);
  request.prompt[69] = 3;
  request.num_top_logprobs = 4;
  request.prompt_logprobs = true;
  const Answer answer = generate(*engine, request);
  ASSERT_EQ(answer.outputs.size(), 5U);
  for (const TokenOutput& output : answer.outputs) {
    ASSERT_EQ(output.top.size(), 4U);
    EXPECT_EQ(output.top[0].id, output.chosen.id) << "greedy";
    EXPECT_EQ(output.top[0].logprob, output.chosen.logprob);
    EXPECT_LE(output.top[1].logprob, output.top[0].logprob);
    EXPECT_LT(output.chosen.logprob, 0);
  }
  ASSERT_EQ(answer.prompt_outputs.size(), 70U);
  EXPECT_TRUE(answer.prompt_outputs[0].top.empty());
  EXPECT_EQ(answer.prompt_outputs[69].chosen.id, 3);
  EXPECT_EQ(answer.prompt_outputs[69].top.size(), 4U);

  // The logits of a prompt's token are those that would have chosen it.
  GenerationRequest shorter = greedy(long_prompt(69), 1);
  shorter.num_top_logprobs = 4;
  const Answer next = generate(*engine, shorter);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(next.outputs[0].top[i].id, answer.prompt_outputs[69].top[i].id);
    EXPECT_EQ(next.outputs[0].top[i].logprob, answer.prompt_outputs[69].top[i].logprob);
  }
}

}  // namespace
}  // namespace evener::engine
