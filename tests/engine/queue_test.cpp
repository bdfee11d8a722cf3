// Who waits for a place: refused, displaced, too late, told where they stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <vector>

#include "engine/engine.h"
#include "engine/models.h"

namespace evener::engine {
namespace {

// A sequence that holds the engine's only place, and its loop after the first token, until it is
// let go.
class HeldRunner {
 public:
  explicit HeldRunner(Engine& engine)
      : listener_([this](const Update& update) {
          if (update.num_generated_tokens != 1) return;
          running_.count_down();
          go_on_.wait();
        }) {
    EXPECT_TRUE(engine.submit(greedy({1, 2, 3}, 3), listener_.sink()).has_value());
    running_.wait();
  }
  ~HeldRunner() { listener_.wait(); }
  HeldRunner(const HeldRunner&) = delete;
  HeldRunner& operator=(const HeldRunner&) = delete;

  void go_on() { go_on_.count_down(); }

 private:
  std::latch running_{1};
  std::latch go_on_{1};
  Listener listener_;
};

TEST(EngineQueue, AFullQueueRefusesAndSaysSo) {
  EngineOptions options = small_options();
  options.max_sequences = 1;
  options.max_queued = 1;
  const auto engine = start(options);
  HeldRunner runner(*engine);
  Listener waiter;
  ASSERT_TRUE(engine->submit(greedy({1, 2, 3}, 3), waiter.sink()).has_value());
  const auto refused = engine->submit(greedy({1, 2, 3}, 3), [](Update) { ADD_FAILURE(); });
  runner.go_on();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(refused.error().why, "1 requests are waiting already, as many as may");
  EXPECT_EQ(waiter.wait().tokens.size(), 3U);
}

TEST(EngineQueue, AMoreUrgentOneTakesThePlaceOfAnother) {
  EngineOptions options = small_options();
  options.max_sequences = 1;
  options.max_queued = 1;
  const auto engine = start(options);
  HeldRunner runner(*engine);
  Listener waiter;
  Listener urgent;
  ASSERT_TRUE(engine->submit(greedy({1, 2, 3}, 3), waiter.sink()).has_value());
  GenerationRequest request = greedy({1, 2, 3}, 3);
  request.priority = -1;
  ASSERT_TRUE(engine->submit(request, urgent.sink()).has_value());
  runner.go_on();
  EXPECT_EQ(urgent.wait().tokens.size(), 3U);
  EXPECT_EQ(waiter.wait().finish, FinishReason::failed);
  EXPECT_EQ(waiter.wait().error->code, Code::unavailable);
  EXPECT_EQ(engine->stats().refused, 1U);
}

TEST(EngineQueue, WhoWaitsTooLongIsTold) {
  EngineOptions options = small_options();
  options.max_sequences = 1;
  options.queue_timeout = std::chrono::milliseconds(1);
  const auto engine = start(options);
  HeldRunner runner(*engine);
  Listener waiter;
  ASSERT_TRUE(engine->submit(greedy({1, 2, 3}, 3), waiter.sink()).has_value());
  const auto in_time = std::chrono::steady_clock::now() + options.queue_timeout;
  while (std::chrono::steady_clock::now() <= in_time) continue;  // the engine has no other clock
  runner.go_on();
  EXPECT_EQ(waiter.wait().finish, FinishReason::failed);
  EXPECT_EQ(waiter.wait().error->why, "no place became free within 0.001 s");
}

TEST(EngineQueue, WhoWaitsIsToldItsPlace) {
  EngineOptions options = small_options();
  options.max_sequences = 1;
  const auto engine = start(options);
  HeldRunner runner(*engine);
  std::atomic<size_t> most_ahead = 0;
  std::vector<Listener> waiters;
  for (size_t i = 0; i < 3; ++i) {
    waiters.emplace_back([&most_ahead](const Update& update) {
      most_ahead = std::max<size_t>(most_ahead, update.num_ahead.value_or(0));
    });
    ASSERT_TRUE(engine->submit(greedy({1, 2, 3}, 3), waiters[i].sink()).has_value());
  }
  runner.go_on();
  for (Listener& waiter : waiters) waiter.wait();
  EXPECT_EQ(most_ahead, 2U);
}

}  // namespace
}  // namespace evener::engine
