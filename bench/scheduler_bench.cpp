// What deciding costs: a step of many streams, alone, beside a long prompt, and with a queue behind
// that finds no place. Residency's part is in it.
#include <fmt/format.h>

#include <algorithm>

#include "best_seconds.h"
#include "sched/scheduler.h"

namespace {

using namespace evener::sched;
using namespace std::chrono_literals;

constexpr size_t kPageSize = 64;
constexpr size_t kStepsMeasured = 200;

class Engine {
 public:
  explicit Engine(size_t num_streams, size_t num_state_slots)
      : residency_(
            {.page_size = kPageSize, .num_pages = 60'000, .num_state_slots = num_state_slots}),
        scheduler_({.max_sequences = num_streams + 1}, residency_) {}

  void ask(size_t num_prompt, size_t num_new) {
    Arrival arrival;
    arrival.newcomer.id = ++last_id_;
    arrival.newcomer.tokens.assign(num_prompt, static_cast<evener::cache::TokenId>(last_id_));
    arrival.num_new_tokens_max = num_new;
    arrival.client = last_id_ % 8;
    arrival.arrived = now_;
    scheduler_.add(std::move(arrival));
  }

  void step() {
    const Step step = scheduler_.next_step(now_);
    scheduler_.step_done(now_, now_ + 20ms);
    now_ += 20ms;
    for (const Slice& slice : step.slices) {
      if (slice.logits != Slice::Logits::none) scheduler_.token_known(slice.sequence, 7);
    }
  }

  size_t num_running() const { return scheduler_.num_running(); }

 private:
  evener::cache::Residency residency_;
  Scheduler scheduler_;
  Time now_{};
  SequenceId last_id_ = 0;
};

void measure(const char* what, size_t num_streams, size_t num_state_slots, size_t num_prompts,
             size_t num_queued) {
  Engine engine(num_streams, num_state_slots);
  for (size_t i = 0; i < num_streams; ++i) engine.ask(500, 100'000);
  while (engine.num_running() < num_streams) engine.step();
  for (size_t i = 0; i < 600; ++i) engine.step();
  for (size_t i = 0; i < num_prompts + num_queued; ++i) engine.ask(1'000'000, 1);
  const double seconds = evener::bench::best_seconds(5, [&] {
    for (size_t i = 0; i < kStepsMeasured; ++i) engine.step();
  });
  fmt::print("{:>4} streams, {:>3} state slots, {:<32} {:7.1f} us a step\n", num_streams,
             num_state_slots, what, seconds / kStepsMeasured * 1e6);
}

}  // namespace

int main() {
  for (const size_t num_streams : {size_t{16}, size_t{64}, size_t{256}}) {
    for (const size_t num_state_slots : {size_t{0}, num_streams + 64}) {
      measure("alone", num_streams, num_state_slots, 0, 0);
      measure("beside a long prompt", num_streams, num_state_slots, 1, 0);
      measure("and a queue of 100", num_streams, num_state_slots, 1, 100);
    }
  }
}
