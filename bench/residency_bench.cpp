// What the accounting of pages and snapshots costs: a long prompt that is new, known, or has to
// evict others; the step of many sequences that decode; a match among many prompts.
#include <fmt/format.h>

#include <numeric>
#include <random>

#include "best_seconds.h"
#include "cache/residency.h"

namespace {

using namespace evener::cache;
using evener::bench::best_seconds;

constexpr size_t kPageSize = 64;

std::vector<TokenId> random_tokens(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random() % 150'000);
  return tokens;
}

void read_prompt(Residency& residency, const Newcomer& newcomer, size_t chunk) {
  size_t at = residency.admit(newcomer)->num_tokens;
  while (at < newcomer.tokens.size()) {
    at = std::min({at + chunk, newcomer.tokens.size(), residency.next_cut(newcomer.id, at)});
    if (!residency.cover(newcomer.id, at)) std::abort();
    (void)residency.take_transfers();
    residency.computed(newcomer.id, at);
  }
}

void long_prompt(size_t num_tokens, size_t num_state_slots) {
  Residency residency({.page_size = kPageSize,
                       .num_pages = num_tokens / kPageSize + 100,
                       .num_state_slots = num_state_slots});
  SequenceId id = 1;
  uint32_t seed = 1;
  Newcomer newcomer{.tokens = random_tokens(num_tokens, seed)};
  const auto report = [&](const char* what, double seconds) {
    fmt::print("{:>8} tokens {:>3} slots  {:<44} {:9.1f} us\n", num_tokens, num_state_slots, what,
               seconds * 1e6);
  };
  const auto turn = [&] {
    newcomer.id = ++id;
    read_prompt(residency, newcomer, 1024);
    residency.release(id);
  };
  turn();
  report("match, all known", best_seconds(10, [&] { (void)residency.match(newcomer); }));
  report("admit and release, all known", best_seconds(10, [&] {
           newcomer.id = ++id;
           (void)residency.admit(newcomer);
           residency.release(id);
         }));
  report("whole turn, all known", best_seconds(10, turn));
  std::vector<Newcomer> strangers;
  for (size_t i = 0; i < 11; ++i)
    strangers.push_back({.tokens = random_tokens(num_tokens, ++seed)});
  report("whole turn, a stranger who evicts all others", best_seconds(10, [&] {
           newcomer = strangers.back();
           strangers.pop_back();
           turn();
         }));
}

void decode(size_t num_sequences, size_t num_prompt_tokens, size_t num_state_slots) {
  constexpr size_t kSteps = 512;
  const size_t pages_each = (num_prompt_tokens + 12 * kSteps) / kPageSize + 1;
  Residency residency({.page_size = kPageSize,
                       .num_pages = num_sequences * pages_each,
                       .num_state_slots = num_state_slots});
  for (SequenceId id = 1; id <= num_sequences; ++id) {
    const auto seed = static_cast<uint32_t>(id);
    read_prompt(residency, {.id = id, .tokens = random_tokens(num_prompt_tokens, seed)}, 1024);
  }
  size_t position = num_prompt_tokens;
  const double seconds = best_seconds(10, [&] {
    for (size_t step = 0; step < kSteps; ++step) {
      ++position;
      for (SequenceId id = 1; id <= num_sequences; ++id) {
        residency.append(id, static_cast<TokenId>(position));
        if (!residency.cover(id, position)) std::abort();
      }
      (void)residency.take_transfers();
      for (SequenceId id = 1; id <= num_sequences; ++id) residency.computed(id, position);
    }
  });
  fmt::print("{:>8} sequences {:>3} slots  a step {:.1f} us, {:.0f} ns a sequence\n", num_sequences,
             num_state_slots, seconds / kSteps * 1e6,
             seconds / static_cast<double>(kSteps * num_sequences) * 1e9);
}

void many_prompts(size_t num_prompts) {
  Residency residency({.page_size = kPageSize, .num_pages = 2 * num_prompts});
  for (SequenceId id = 1; id <= num_prompts; ++id) {
    read_prompt(residency, {.id = id, .tokens = random_tokens(kPageSize + 1, uint32_t(id))}, 1024);
    residency.release(id);
  }
  const Newcomer stranger{.tokens = random_tokens(1'000, 0)};
  const double seconds = best_seconds(100, [&] { (void)residency.match(stranger); });
  fmt::print("{:>8} prompts, match of a stranger {:.2f} us\n", num_prompts, seconds * 1e6);
}

}  // namespace

int main() {
  for (const size_t num_state_slots : {size_t{0}, size_t{32}}) {
    for (const size_t num_tokens : {size_t{20'000}, size_t{200'000}, size_t{1'000'000}}) {
      long_prompt(num_tokens, num_state_slots);
    }
  }
  decode(256, 1'000, 0);
  decode(256, 1'000, 320);
  many_prompts(100'000);
}
