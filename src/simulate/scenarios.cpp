#include "simulate/scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <ranges>

#include "simulate/simulation.h"
#include "simulate/workload.h"

namespace evener::simulate {
namespace {

using namespace std::chrono_literals;
using sched::Duration;

// Texts that nobody else begins with.
class Texts {
 public:
  std::vector<TokenId> text(size_t num_tokens) {
    std::vector<TokenId> result(num_tokens);
    for (TokenId& token : result) token = static_cast<TokenId>(1 + random_() % 50'000);
    return result;
  }

 private:
  std::mt19937 random_{1};
};

void append(Request& request, const std::vector<TokenId>& message) {
  request.prompt.insert(request.prompt.end(), message.begin(), message.end());
  request.message_ends.push_back(request.prompt.size());
}

// The next turn of a chat: all that was said, and a message of so many tokens.
Request next_turn(const Workload& workload, size_t number, const std::vector<TokenId>& message) {
  const Request& before = workload.requests[number - 1];
  const History history = history_of(before, workload.is_recurrent());
  Request request = before;
  request.prompt.assign(history.tokens().begin(), history.tokens().end());
  request.message_ends.push_back(request.prompt.size());
  append(request, message);
  return request;
}

Workload roomy(size_t num_state_slots) {
  return {.scheduler = {.prefill_chunk = 256, .page_size = 16},
          .residency = {.page_size = 16, .num_pages = 4000, .num_state_slots = num_state_slots}};
}

// The seeds' machine, with an answer and a prompt that comes when eight tokens of it are out. A
// first prompt, alone, lets the cost model see chunks.
Workload starvation(const StarvationOptions& options, size_t prompt, size_t chunk) {
  Workload workload{
      .scheduler = {.prefill_chunk = chunk,
                    .max_gap = options.max_gap,
                    .decode_share = options.decode_share,
                    .max_prefill_steps = options.max_prefill_steps},
      .residency = {.num_pages = 2000},
      .table = {.step = 0.033, .prompt_token = 7.15e-4, .position = 1.234e-8, .decode_row = 1e-3}};
  Texts texts;
  workload.requests.push_back({.prompt = texts.text(2048)});
  workload.requests.push_back({.prompt = texts.text(20),
                               .num_new_tokens_max = prompt / 24 + 100,  // more than come meanwhile
                               .ignores_end = true,
                               .client = 1,
                               .follows = 1,
                               .arrives = 100ms});
  workload.requests.push_back({.prompt = texts.text(prompt),
                               .num_new_tokens_max = 1,
                               .client = 2,
                               .follows = 1,
                               .arrives = 100ms + 8 * 35ms});
  return workload;
}

size_t gaps_over(const Life& life, Duration limit) {
  return static_cast<size_t>(
      std::ranges::count_if(life.gaps, [limit](Duration gap) { return gap > limit; }));
}

// L6: what a larger N and a larger target may do to the largest gap.
Verdict bounds_are_monotone() {
  Verdict verdict;
  Duration before{};
  for (const size_t n : {1U, 2U, 3U, 5U, 8U, 100U, 0U}) {
    const Outcome outcome = simulate(starvation({.max_prefill_steps = n}, 8192, 512));
    verdict.add(outcome.verdict);
    verdict.expect(Invariant::L6, outcome.gap_max >= before,
                   [&] { return fmt::format("N = {} has a smaller gap than the one before", n); });
    before = outcome.gap_max;
  }
  before = {};
  for (const Duration max_gap : {100ms, 200ms, 400ms, 800ms, 1600ms}) {
    const Outcome outcome = simulate(starvation({.max_gap = max_gap}, 8192, 4096));
    verdict.add(outcome.verdict);
    verdict.expect(Invariant::L6, outcome.gap_max >= before, [&] {
      return fmt::format("a target of {:.1f} s has a smaller gap than the one before",
                         sched::seconds(max_gap));
    });
    before = outcome.gap_max;
  }
  return verdict;
}

// L7: with N = 1 every chunk makes a gap.
Verdict gaps_are_counted() {
  Verdict verdict;
  for (const size_t chunk : {256U, 512U, 1000U, 4096U}) {
    for (const size_t prompt : {1024U, 3000U, 9000U}) {
      const Outcome outcome = simulate(starvation({.max_prefill_steps = 1}, prompt, chunk));
      verdict.add(outcome.verdict);
      const size_t num_chunks = (prompt + chunk - 1) / chunk;
      const size_t num_gaps = gaps_over(outcome.lives[1], 50ms);
      verdict.expect(Invariant::L7, num_gaps + 1 >= num_chunks && num_gaps <= num_chunks + 1, [&] {
        return fmt::format("{} tokens in chunks of {} make {} gaps", prompt, chunk, num_gaps);
      });
    }
  }
  return verdict;
}

// How far apart clients ever are in what they have been served, while all of them wait for more.
Duration largest_lead(const Outcome& outcome) {
  std::vector<const Life*> ended;
  std::map<uint64_t, size_t> num_left;
  for (const Life& life : outcome.lives) {
    ended.push_back(&life);
    ++num_left[life.request->client];
  }
  std::ranges::sort(ended, {}, [](const Life* life) { return *life->ended; });
  std::map<uint64_t, Duration> served;
  for (const auto& [client, left] : num_left) served[client] = {};
  Duration lead{};
  for (const Life* life : ended) {
    served[life->request->client] += life->service;
    const auto [least, most] = std::ranges::minmax(served | std::views::values);
    lead = std::max(lead, most - least);
    if (--num_left[life->request->client] == 0) break;
  }
  return lead;
}

// L8: clients who ask in very different pieces, one place.
Verdict clients_are_equal() {
  Verdict verdict;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    Texts texts;
    Workload workload = roomy(0);
    workload.seed = seed;
    workload.scheduler.max_sequences = 1;
    for (uint64_t client = 1; client <= 3; ++client) {
      const size_t size = 20 * client * client;  // 20, 80 and 180 tokens
      for (size_t i = 0; i < 1200 / size; ++i) {
        workload.requests.push_back({.prompt = texts.text(1 + random() % (2 * size)),
                                     .num_new_tokens_max = 1 + random() % 10,
                                     .client = client});
      }
    }
    const Outcome outcome = simulate(workload);
    verdict.add(outcome.verdict);
    Duration longest{};
    for (const Life& life : outcome.lives) longest = std::max(longest, life.service);
    verdict.expect(Invariant::L8, largest_lead(outcome) <= longest, [&] {
      return fmt::format("seed {}: a client is {:.3f} s ahead, no request took more than {:.3f} s",
                         seed, sched::seconds(largest_lead(outcome)), sched::seconds(longest));
    });
  }
  return verdict;
}

// E2: one session more than the pool holds, each coming back in turn.
Verdict sessions_take_turns() {
  Verdict verdict;
  for (const size_t num_state_slots : {0U, 8U}) {
    constexpr size_t kNumPlaces = 3;
    Texts texts;
    Workload workload = roomy(num_state_slots);
    workload.scheduler.max_sequences = kNumPlaces;
    workload.residency.num_pages = 40 * kNumPlaces;  // of 16 tokens; a session grows to 600
    workload.num_stored_max = 10'000;
    for (size_t i = 0; i <= kNumPlaces; ++i) {
      Request first{.num_new_tokens_max = 8, .session = i + 1, .follows = i};
      append(first, texts.text(400));
      workload.requests.push_back(first);
    }
    for (size_t round = 1; round <= 5; ++round) {
      for (size_t i = 0; i <= kNumPlaces; ++i) {
        const size_t before = workload.requests.size() - kNumPlaces;
        Request turn = next_turn(workload, before, texts.text(20));
        turn.follows = workload.requests.size();
        workload.requests.push_back(turn);
      }
    }
    const Outcome outcome = simulate(workload);
    verdict.add(outcome.verdict);
    for (size_t i = kNumPlaces + 1; i < outcome.lives.size(); ++i) {
      const Life& life = outcome.lives[i];
      const size_t num_new = life.num_known - outcome.lives[i - kNumPlaces - 1].num_known;
      verdict.expect(Invariant::E2, life.tokens_computed <= num_new + 16, [&] {
        return fmt::format("request {} computed {} tokens for {} new ones", i + 1,
                           life.tokens_computed, num_new);
      });
    }
  }
  return verdict;
}

// E3: prompts that begin alike. Where a message ends there is a snapshot, so the second one pays
// for its own tokens; where none ends, the second one makes it and the third one profits.
Verdict branches_share() {
  Verdict verdict;
  for (const size_t num_state_slots : {0U, 40U}) {
    for (const bool ends_a_message : {true, false}) {
      Texts texts;
      Workload workload = roomy(num_state_slots);
      const std::vector<TokenId> beginning = texts.text(1000);
      for (size_t i = 0; i < 4; ++i) {
        Request request{.prompt = beginning, .num_new_tokens_max = 4, .follows = i};
        if (ends_a_message) request.message_ends = {beginning.size()};
        append(request, texts.text(100));
        workload.requests.push_back(request);
      }
      const Outcome outcome = simulate(workload);
      verdict.add(outcome.verdict);
      const bool second_pays = num_state_slots > 0 && !ends_a_message;
      for (size_t i = second_pays ? 2 : 1; i < outcome.lives.size(); ++i) {
        const Life& life = outcome.lives[i];
        const size_t num_own = life.num_known - beginning.size();
        verdict.expect(Invariant::E3, life.tokens_computed <= num_own + 16, [&] {
          return fmt::format("sibling {} computed {} tokens, {} are its own", i + 1,
                             life.tokens_computed, num_own);
        });
      }
    }
  }
  return verdict;
}

// E5: agents at work, several at once: a system prompt that they share, long tool results.
Verdict little_is_computed_twice() {
  Verdict verdict;
  for (const size_t num_state_slots : {0U, 200U}) {
    Texts texts;
    Workload workload = roomy(num_state_slots);
    const std::vector<TokenId> system_prompt = texts.text(1500);
    size_t optimum = system_prompt.size();
    for (uint64_t session = 1; session <= 3; ++session) {
      Request first{.prompt = system_prompt,
                    .num_new_tokens_max = 60,
                    .client = session,
                    .session = session,
                    .message_ends = {system_prompt.size()},
                    .follows = session > 1 ? 1U : 0U};
      append(first, texts.text(300));
      workload.requests.push_back(first);
    }
    for (size_t turn = 1; turn <= 12; ++turn) {
      for (size_t session = 0; session < 3; ++session) {
        const size_t before = workload.requests.size() - 2;
        Request request = next_turn(workload, before, texts.text(100 + 37 * turn));
        request.follows = before;
        workload.requests.push_back(request);
      }
    }
    const Outcome outcome = simulate(workload);
    verdict.add(outcome.verdict);
    size_t computed = 0;
    for (size_t i = 0; i < outcome.lives.size(); ++i) {
      const Life& life = outcome.lives[i];
      computed += life.tokens_computed;
      const size_t known_before = i < 3 ? system_prompt.size() : outcome.lives[i - 3].num_known;
      optimum += life.num_known - known_before;
    }
    verdict.expect(Invariant::E5, 100 * computed <= 105 * optimum, [&] {
      return fmt::format("{} tokens computed, {} had to be", computed, optimum);
    });
  }
  return verdict;
}

// Two giants and short prompts without end beside an answer.
Verdict answer_beside_prompts(bool mixed, bool two_giants, size_t num_stages) {
  Workload workload = starvation({}, 20'000, 4096);
  workload.scheduler.mixed = mixed;
  workload.set_stages(num_stages);
  Texts texts;
  if (two_giants) {
    Request second = workload.requests.back();
    second.prompt = Texts().text(15'000);
    workload.requests.push_back(second);
  }
  for (size_t i = 0; i < 60; ++i) {
    workload.requests.push_back({.prompt = texts.text(10 + 7 * (i % 20)),
                                 .num_new_tokens_max = 5,
                                 .client = 3 + i % 2,
                                 .follows = 1,
                                 .arrives = 1s + i * 150ms});
  }
  const Outcome outcome = simulate(workload);
  Verdict verdict = outcome.verdict;
  const Duration bound = workload.scheduler.max_gap * 11 / 10 + 50ms;
  verdict.expect(Invariant::L2, outcome.gap_max <= bound, [&] {
    return fmt::format("with {} stages the largest gap is {:.3f} s", num_stages,
                       sched::seconds(outcome.gap_max));
  });
  return verdict;
}

// L2, L3: the stories of the reference that stall other schedulers, with the rule in time.
Verdict streams_are_not_starved() {
  Verdict verdict;
  for (const size_t num_stages : {1U, 2U, 3U, 4U}) {
    for (const bool mixed : {true, false}) {
      for (const bool two_giants : {false, true}) {
        verdict.add(answer_beside_prompts(mixed, two_giants, num_stages));
      }
    }
  }
  return verdict;
}

// L4: stages that have enough to do are kept busy by one prompt, and by as many answers as they
// are.
Verdict stages_are_busy() {
  const auto seconds_for = [](Workload workload, size_t num_stages, Verdict& verdict) {
    workload.set_stages(num_stages);
    const Outcome outcome = simulate(workload);
    verdict.add(outcome.verdict);
    return sched::seconds(outcome.end);
  };
  Texts texts;
  Workload prompt = roomy(0);
  prompt.scheduler.prefill_chunk = 512;
  prompt.requests.push_back({.prompt = texts.text(4096), .num_new_tokens_max = 1});
  Verdict verdict;
  for (const size_t num_stages : {2U, 3U, 4U}) {
    Workload answers = roomy(0);
    for (size_t i = 0; i < num_stages; ++i) {
      answers.requests.push_back(
          {.prompt = texts.text(10), .num_new_tokens_max = 300, .ignores_end = true});
    }
    Workload answer = answers;
    answer.requests.resize(1);
    const double all = static_cast<double>(num_stages);
    const double prefill =
        seconds_for(prompt, 1, verdict) / seconds_for(prompt, num_stages, verdict);
    const double decode =
        all * seconds_for(answer, 1, verdict) / seconds_for(answers, num_stages, verdict);
    verdict.expect(Invariant::L4, prefill > 0.85 * all && decode > 0.95 * all, [&] {
      return fmt::format("{} stages read {:.2f} times and answer {:.2f} times as fast as one",
                         num_stages, prefill, decode);
    });
  }
  return verdict;
}

// L2: a long chat that comes back from a tier, slowly, beside an answer.
Verdict restores_do_not_stall() {
  Verdict verdict;
  for (const auto& [num_state_slots, num_stages] :
       {std::pair<size_t, size_t>{0, 1}, {6, 1}, {0, 2}, {6, 2}}) {
    Texts texts;
    Workload workload = roomy(num_state_slots);
    workload.set_stages(num_stages);
    workload.scheduler.max_gap = 200ms;
    workload.scheduler.chunk_min = 16;
    workload.residency.num_pages = 100;
    workload.num_stored_max = 10'000;
    workload.table.moved_page = 0.02;
    Request chat{.num_new_tokens_max = 1, .session = 1};
    append(chat, texts.text(1000));
    workload.requests.push_back(chat);
    // Pushes the chat out, and teaches what moving a page costs.
    workload.requests.push_back({.prompt = texts.text(1500), .follows = 1});
    workload.requests.push_back({.prompt = texts.text(20),
                                 .num_new_tokens_max = 300,
                                 .ignores_end = true,
                                 .client = 1,
                                 .follows = 2});
    append(chat, texts.text(20));
    chat.follows = 2;
    chat.arrives = 300ms;
    workload.requests.push_back(chat);
    const Outcome outcome = simulate(workload);
    verdict.add(outcome.verdict);
    const Life& back = outcome.lives[3];
    verdict.expect(Invariant::E2, back.num_first_matched >= 960, [&] {
      return fmt::format("only {} tokens came from the tier", back.num_first_matched);
    });
    // In a hybrid model one eviction may free a run of pages, whose saving cannot be put off.
    const std::ptrdiff_t num_longer_max = num_state_slots > 0 ? 1 : 0;
    const Duration bound = workload.scheduler.max_gap * 11 / 10 + 40ms;
    const auto num_longer =
        std::ranges::count_if(outcome.lives[2].gaps, [bound](Duration gap) { return gap > bound; });
    verdict.expect(Invariant::L2, num_longer <= num_longer_max, [&] {
      return fmt::format("{} gaps over {:.3f} s", num_longer, sched::seconds(bound));
    });
  }
  return verdict;
}

}  // namespace

const std::array<Scenario, 9> kScenarios = {{
    {"streams are not starved", streams_are_not_starved},
    {"restores do not stall", restores_do_not_stall},
    {"stages are busy", stages_are_busy},
    {"bounds are monotone", bounds_are_monotone},
    {"gaps are counted", gaps_are_counted},
    {"clients are equal", clients_are_equal},
    {"sessions take turns", sessions_take_turns},
    {"branches share", branches_share},
    {"little is computed twice", little_is_computed_twice},
}};

Starvation starve(const StarvationOptions& options) {
  const Outcome outcome = simulate(starvation(options, 48'000, 4096));
  const Life& answer = outcome.lives[1];
  const Life& prompt = outcome.lives[2];
  return {.num_long_gaps = gaps_over(answer, 1s),
          .gap_max = *std::ranges::max_element(answer.gaps),
          .gap_bound = outcome.scheduler.gap_bound,
          .prompt_time = *prompt.ended - *prompt.arrived};
}

}  // namespace evener::simulate
