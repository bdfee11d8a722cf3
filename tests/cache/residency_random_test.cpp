// Whatever happens in whatever order, a sequence reads its own past and nobody else's.
// Method: random calls on a small pool, so that everything is evicted all the time; the fake memory
// compares each row's past with a hash of the tokens, and Residency counts everything again after
// each call. Small alphabets and pages make prefixes meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "residency_driver.h"

namespace evener::cache {
namespace {

class RandomTraffic {
 public:
  RandomTraffic(uint32_t seed, const ResidencyOptions& options)
      : random_(seed), options_(options), driver_(options) {
    driver_.memory.tiers_on = one_in(2);
  }

  void run(size_t num_events) {
    for (size_t i = 0; i < num_events && !testing::Test::HasFatalFailure(); ++i) event();
    while (!driver_.running.empty()) driver_.release(driver_.running.begin()->first);
    const CacheStats stats = driver_.residency.stats();
    EXPECT_EQ(stats.pages_private, 0U);
    EXPECT_EQ(stats.pages_shared, 0U);
    EXPECT_EQ(stats.slots_own, 0U);
    driver_.residency.flush();
    driver_.residency.check();
    EXPECT_EQ(driver_.residency.stats().pages_free, options_.num_pages);
    EXPECT_EQ(driver_.residency.stats().slots_free, options_.num_state_slots);
  }

  CacheStats stats() const { return driver_.residency.stats(); }
  size_t num_computed() const { return num_computed_; }

 private:
  bool one_in(uint32_t n) { return random_() % n == 0; }
  size_t below(size_t n) { return random_() % n; }

  void event() {
    const size_t kind = below(100);
    if (kind < 15) return arrive();
    if (kind < 20) return readmit();
    if (kind < 24) return stop(/*comes_back=*/false);
    if (kind < 28) return stop(/*comes_back=*/true);
    if (kind < 30) return fail_step();
    if (kind < 31) return disturb();
    step();
  }

  // Somebody's past, shortened and lengthened at random.
  std::vector<TokenId> tokens() {
    std::vector<TokenId> tokens;
    if (!histories_.empty() && !one_in(8)) tokens = histories_[below(histories_.size())];
    if (one_in(2)) tokens.resize(below(tokens.size() + 1));
    const size_t num_more = 1 + below(3 * options_.page_size);
    for (size_t i = 0; i < num_more; ++i) tokens.push_back(token());
    const size_t max = options_.page_size * options_.num_pages;
    if (tokens.size() > max) tokens.resize(max);
    return tokens;
  }

  TokenId token() { return static_cast<TokenId>(below(2)); }

  void arrive() {
    Newcomer newcomer{.id = ++last_id_,
                      .tokens = tokens(),
                      .salt = one_in(4) ? 1U : 0U,
                      .session = below(4),
                      .message_ends = {}};
    for (size_t end = below(9); end <= newcomer.tokens.size(); end += 1 + below(9)) {
      newcomer.message_ends.push_back(end);
    }
    waiting_.push_back(newcomer);
    readmit();
  }

  void readmit() {
    if (waiting_.empty()) return;
    if (!driver_.admit(waiting_.front())) return;
    waiting_.pop_front();
  }

  SequenceId any_running() {
    return std::next(driver_.running.begin(),
                     static_cast<std::ptrdiff_t>(below(driver_.running.size())))
        ->first;
  }

  // Finished or cancelled, wherever it is; or retracted, then it waits with all its tokens.
  void stop(bool comes_back) {
    if (driver_.running.empty()) return;
    const SequenceId id = any_running();
    const auto& sequence = driver_.running.at(id);
    histories_.push_back(sequence.tokens);
    if (histories_.size() > 20) histories_.erase(histories_.begin());
    Newcomer again = sequence.newcomer;
    again.tokens = sequence.tokens;
    driver_.release(id);
    if (comes_back) waiting_.push_back(again);
  }

  // Rows of some sequences, whose loads may be put off; who finds no page is retracted.
  void step() {
    driver_.take_transfers();
    std::vector<SequenceId> ids;
    for (const auto& [id, sequence] : driver_.running) ids.push_back(id);
    for (const SequenceId id : ids) {
      if (one_in(3)) continue;
      if (!driver_.load(id)) continue;
      advance(id);
    }
  }

  void advance(SequenceId id) {
    const auto& sequence = driver_.running.at(id);
    if (sequence.num_computed == sequence.tokens.size()) driver_.append(id, token());
    size_t end = sequence.num_computed + 1 + below(sequence.tokens.size() - sequence.num_computed);
    if (!one_in(8)) end = std::min(end, driver_.residency.next_cut(id, sequence.num_computed));
    num_computed_ += end - sequence.num_computed;
    if (driver_.step(id, end)) return;
    Newcomer again = sequence.newcomer;
    again.tokens = sequence.tokens;
    driver_.release(id);
    if (again.tokens.size() < options_.page_size * options_.num_pages) waiting_.push_back(again);
  }

  // The rows of a step wrote rubbish, and its sequence ends.
  void fail_step() {
    if (driver_.running.empty()) return;
    const SequenceId id = any_running();
    const auto& sequence = driver_.running.at(id);
    driver_.take_transfers();
    if (sequence.num_computed == sequence.tokens.size() || !sequence.loads.empty()) return;
    if (!driver_.residency.cover(id, sequence.tokens.size())) return;
    driver_.take_transfers();
    driver_.memory.spoil(driver_.rows(id, sequence.tokens.size()));
    driver_.release(id);
  }

  void disturb() {
    const size_t kind = below(4);
    if (kind == 0) driver_.residency.flush();
    if (kind == 1) driver_.residency.save_all();
    if (kind == 2) driver_.memory.lose_all();
    const auto& stored = driver_.memory.stored();
    if (kind == 3 && !stored.empty()) driver_.memory.lose(EntryKey(stored.begin()->first));
    driver_.residency.check();
  }

  std::mt19937 random_;
  ResidencyOptions options_;
  ResidencyDriver driver_;
  std::deque<Newcomer> waiting_;
  std::vector<std::vector<TokenId>> histories_;
  SequenceId last_id_ = 0;
  size_t num_computed_ = 0;
};

ResidencyOptions random_options(uint32_t seed, size_t num_slots_max) {
  std::mt19937 random(seed);
  return {.page_size = 1 + random() % 5,
          .num_pages = 2 + random() % 30,
          .num_state_slots = num_slots_max == 0 ? 0 : 1 + random() % num_slots_max,
          .snapshot_interval = random() % 3 * 8,
          .reuse = random() % 16 != 0};
}

void run_many(size_t num_slots_max) {
  CacheStats sums;
  size_t num_computed = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomTraffic traffic(seed, random_options(seed, num_slots_max));
    traffic.run(500);
    if (testing::Test::HasFailure()) return;
    sums.num_hits += traffic.stats().num_hits;
    sums.pages_evicted += traffic.stats().pages_evicted;
    sums.pages_loaded += traffic.stats().pages_loaded;
    sums.snapshots_evicted += traffic.stats().snapshots_evicted;
    sums.states_loaded += traffic.stats().states_loaded;
    num_computed += traffic.num_computed();
  }
  // Without these a cache that does nothing passes.
  EXPECT_GT(num_computed, 100'000U);
  EXPECT_GT(sums.num_hits, 2'000U);
  EXPECT_GT(sums.pages_evicted, 10'000U);
  EXPECT_GT(sums.pages_loaded, 1'000U);
  if (num_slots_max == 0) return;
  EXPECT_GT(sums.snapshots_evicted, 2'000U);
  EXPECT_GT(sums.states_loaded, 200U);
}

TEST(RandomResidency, ASequenceReadsItsOwnPastInPlainModels) { run_many(0); }

TEST(RandomResidency, ASequenceReadsItsOwnPastWithRecurrentStates) { run_many(9); }

// Method: nothing is ever evicted, so what was computed under a salt in whole pages must be found,
// and nothing else.
TEST(RandomResidency, WithRoomForAllAMatchIsTheLongestPrefixThatAnybodyRead) {
  constexpr size_t kPageSize = 3;
  std::mt19937 random(11);
  ResidencyDriver driver({.page_size = kPageSize, .num_pages = 4'000});
  std::set<std::pair<uint64_t, std::vector<TokenId>>> read;  // whole pages from the start, by salt
  for (SequenceId id = 1; id <= 400; ++id) {
    Newcomer newcomer{.id = id, .tokens = {}, .salt = random() % 3};
    const size_t num_tokens = 1 + random() % 40;
    for (size_t i = 0; i < num_tokens; ++i) {
      newcomer.tokens.push_back(static_cast<TokenId>(random() % 2));
    }
    size_t expected = 0;
    std::vector<TokenId> prefix;
    for (size_t end = kPageSize; end <= num_tokens; end += kPageSize) {
      prefix.assign(newcomer.tokens.begin(),
                    newcomer.tokens.begin() + static_cast<std::ptrdiff_t>(end));
      const bool is_new = read.emplace(newcomer.salt, prefix).second;
      if (!is_new && end < num_tokens) expected = end;
    }
    ASSERT_EQ(driver.turn(newcomer).num_tokens, expected) << "sequence " << id;
  }
  EXPECT_EQ(driver.residency.stats().pages_evictable, read.size());
}

}  // namespace
}  // namespace evener::cache
