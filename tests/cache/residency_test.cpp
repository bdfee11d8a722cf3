// What a newcomer finds, what stays when a sequence goes, who makes room for whom, and when
// snapshots of recurrent state are taken.
// Method: short scripts on small pools; the driver checks what sequences read.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "residency_driver.h"

namespace evener::cache {
namespace {

constexpr size_t kPageSize = 4;

std::vector<TokenId> tokens(TokenId first, size_t count) {
  std::vector<TokenId> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Newcomer newcomer(SequenceId id, std::vector<TokenId> prompt, uint64_t session = 0) {
  return {.id = id, .tokens = std::move(prompt), .session = session};
}

ResidencyOptions plain(size_t num_pages) {
  return {.page_size = kPageSize, .num_pages = num_pages};
}

// No snapshots for the way unless asked for.
ResidencyOptions hybrid(size_t num_pages, size_t num_state_slots, size_t interval = 0) {
  return {.page_size = kPageSize,
          .num_pages = num_pages,
          .num_state_slots = num_state_slots,
          .snapshot_interval = interval};
}

TEST(Match, IsWholePagesAndLeavesTheLastToken) {
  ResidencyDriver driver(plain(20));
  EXPECT_EQ(driver.turn(newcomer(1, tokens(0, 12))).num_tokens, 0U);
  const Match again = driver.residency.match(newcomer(2, tokens(0, 12)));
  EXPECT_EQ(again.num_tokens, 8U) << "the last page holds the last token";
  EXPECT_EQ(again.end, MatchEnd::all);
  EXPECT_EQ(driver.residency.match(newcomer(2, tokens(0, 13))).num_tokens, 12U);
  EXPECT_EQ(driver.residency.match(newcomer(2, tokens(0, 4))).num_tokens, 0U);
  EXPECT_EQ(driver.residency.match(newcomer(2, tokens(0, 1))).end, MatchEnd::all);
}

TEST(Match, NamesTheFirstTokenThatDiffers) {
  ResidencyDriver driver(plain(20));
  driver.turn(newcomer(1, tokens(0, 12)));
  driver.turn(newcomer(2, tokens(0, 6) + tokens(50, 6)));
  const Match match = driver.residency.match(newcomer(3, tokens(0, 7) + tokens(90, 6)));
  EXPECT_EQ(match.num_tokens, 4U);
  EXPECT_EQ(match.end, MatchEnd::differs);
  EXPECT_EQ(match.first_difference, 7U);
  EXPECT_EQ(driver.residency.match(newcomer(3, tokens(0, 12) + tokens(0, 5))).first_difference, 12U)
      << "nobody went on from there";
  EXPECT_EQ(driver.residency.match(newcomer(3, tokens(7, 8))).first_difference, 0U);
}

TEST(Match, SaysThatWhatItLooksForWasEvicted) {
  ResidencyDriver driver(plain(4));
  driver.turn(newcomer(1, tokens(0, 16)));
  driver.turn(newcomer(2, tokens(100, 8)));
  const Match match = driver.residency.match(newcomer(3, tokens(0, 16)));
  EXPECT_EQ(match.num_tokens, 8U) << "leaves go first";
  EXPECT_EQ(match.end, MatchEnd::evicted);
}

TEST(Match, IsNothingWhereReuseIsOff) {
  ResidencyOptions options = plain(20);
  options.reuse = false;
  ResidencyDriver driver(options);
  driver.turn(newcomer(1, tokens(0, 12), /*session=*/1), tokens(20, 9));
  EXPECT_EQ(driver.residency.match(newcomer(2, tokens(0, 12))).end, MatchEnd::disabled);
  EXPECT_EQ(driver.residency.stats().pages_free, 20U);
}

TEST(Match, EndsWhereSomebodyWantsToSeeTheRest) {
  ResidencyDriver driver(plain(20));
  driver.turn(newcomer(1, tokens(0, 16)));
  Newcomer curious = newcomer(2, tokens(0, 16));
  curious.match_max = 11;
  EXPECT_EQ(driver.turn(curious).num_tokens, 8U);
  curious.match_max = 0;
  EXPECT_EQ(driver.turn(curious).num_tokens, 0U);
  EXPECT_EQ(driver.residency.stats().pages_evictable, 4U) << "its pages were there already";
}

TEST(Match, DoesNotCrossSalts) {
  ResidencyDriver driver(plain(20));
  Newcomer salted = newcomer(1, tokens(0, 12));
  salted.salt = 7;
  driver.turn(salted);
  EXPECT_EQ(driver.turn(newcomer(2, tokens(0, 12))).num_tokens, 0U);
  salted.id = 3;
  EXPECT_EQ(driver.turn(salted).num_tokens, 8U);
}

TEST(Match, OfATurnThatOnlyAppendsCoversTheAnswer) {
  ResidencyDriver driver(plain(20));
  driver.turn(newcomer(1, tokens(0, 10)), tokens(50, 9));
  const auto history = tokens(0, 10) + tokens(50, 9);
  EXPECT_EQ(driver.turn(newcomer(2, history + tokens(80, 3))).num_tokens, 16U);
}

TEST(Sharing, TwoThatReadTheSameHoldItOnce) {
  ResidencyDriver driver(plain(20));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 10))));
  ASSERT_TRUE(driver.admit(newcomer(2, tokens(0, 11))));
  ASSERT_TRUE(driver.read_prompt(1));
  ASSERT_TRUE(driver.read_prompt(2));
  EXPECT_EQ(driver.residency.stats().pages_shared, 2U);
  EXPECT_EQ(driver.residency.stats().pages_private, 2U);
  EXPECT_EQ(driver.residency.pages(1)[1], driver.residency.pages(2)[1]);
  EXPECT_NE(driver.residency.pages(1)[2], driver.residency.pages(2)[2]);
}

TEST(Sharing, WhatASequenceUsesIsNotEvicted) {
  ResidencyDriver driver(plain(4));
  driver.turn(newcomer(1, tokens(0, 9)));
  ASSERT_TRUE(driver.admit(newcomer(2, tokens(0, 9))));
  ASSERT_TRUE(driver.admit(newcomer(3, tokens(50, 20))));
  EXPECT_EQ(driver.residency.num_pages_available(), 2U);
  EXPECT_TRUE(driver.step(3, 8));
  EXPECT_FALSE(driver.step(3, 9));
  driver.release(2);
  EXPECT_TRUE(driver.step(3, 16));
}

TEST(Sharing, LockingCountsAgainstRoom) {
  ResidencyDriver driver(plain(4));
  driver.turn(newcomer(1, tokens(0, 9)));
  EXPECT_EQ(driver.residency.num_pages_available(), 4U);
  EXPECT_EQ(driver.residency.match(newcomer(2, tokens(0, 9))).num_pages_to_lock, 2U);
  ASSERT_TRUE(driver.admit(newcomer(2, tokens(0, 9))));
  EXPECT_EQ(driver.residency.num_pages_available(), 2U);
  EXPECT_EQ(driver.residency.match(newcomer(3, tokens(0, 9))).num_pages_to_lock, 0U);
}

TEST(Sharing, ARetractedSequenceFindsWhatItHadComputed) {
  ResidencyDriver driver(plain(8));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 10))));
  ASSERT_TRUE(driver.read_prompt(1));
  ASSERT_TRUE(driver.decode(1, tokens(50, 7)));
  driver.append(1, 57);
  driver.release(1);
  EXPECT_EQ(driver.turn(newcomer(1, tokens(0, 10) + tokens(50, 8))).num_tokens, 16U);
}

TEST(Sharing, AStepThatFailsLeavesNothingBehind) {
  ResidencyDriver driver(hybrid(8, 3));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 20))));
  driver.take_transfers();
  ASSERT_TRUE(driver.step(1, 8));
  ASSERT_TRUE(driver.residency.cover(1, 15));
  driver.memory.spoil(driver.rows(1, 15));
  driver.release(1);
  EXPECT_EQ(driver.residency.stats().slots_snapshot, 0U) << "its slot is spoiled";
  EXPECT_EQ(driver.turn(newcomer(2, tokens(0, 20))).num_tokens, 0U);
}

TEST(Eviction, TakesTheLeastRecentlyUsedFirst) {
  ResidencyDriver driver(plain(6));
  driver.turn(newcomer(1, tokens(0, 9)));
  driver.turn(newcomer(2, tokens(100, 9)));
  driver.turn(newcomer(3, tokens(0, 9)));
  driver.turn(newcomer(4, tokens(200, 13)));
  EXPECT_EQ(driver.residency.match(newcomer(5, tokens(0, 9))).num_tokens, 8U);
  EXPECT_EQ(driver.residency.match(newcomer(5, tokens(100, 9))).num_tokens, 0U);
}

TEST(Eviction, SparesTheNewestTurnOfASession) {
  ResidencyDriver driver(plain(8));
  driver.turn(newcomer(1, tokens(0, 9), /*session=*/1));
  for (SequenceId id = 2; id < 9; ++id) {
    driver.turn(newcomer(id, tokens(static_cast<TokenId>(100 * id), 13)));
  }
  EXPECT_EQ(driver.residency.match(newcomer(9, tokens(0, 9))).num_tokens, 8U);
}

TEST(Eviction, SparesTheNewestTurnOnly) {
  ResidencyDriver driver(plain(8));
  driver.turn(newcomer(1, tokens(0, 9), /*session=*/1));
  driver.turn(newcomer(2, tokens(50, 9), /*session=*/1));
  driver.turn(newcomer(3, tokens(100, 17)));
  driver.turn(newcomer(4, tokens(200, 17)));
  EXPECT_EQ(driver.residency.match(newcomer(5, tokens(0, 9))).num_tokens, 0U);
  EXPECT_EQ(driver.residency.match(newcomer(5, tokens(50, 9))).num_tokens, 8U);
}

TEST(Eviction, LeavesAQuarterOfThePoolToThoseWithoutASession) {
  ResidencyDriver driver(plain(8));
  for (SequenceId id = 1; id <= 4; ++id) {
    driver.turn(newcomer(id, tokens(static_cast<TokenId>(100 * id), 9), /*session=*/id));
  }
  driver.turn(newcomer(5, tokens(0, 8)));
  EXPECT_EQ(driver.residency.match(newcomer(6, tokens(100, 9))).num_tokens, 0U)
      << "three sessions fill three quarters: the oldest is no longer spared";
  EXPECT_EQ(driver.residency.match(newcomer(6, tokens(200, 9))).num_tokens, 8U);
}

TEST(Eviction, TakesSessionsOldestFirstWhenNothingElseIsLeft) {
  ResidencyDriver driver(plain(8));
  driver.turn(newcomer(1, tokens(100, 9), /*session=*/1));
  driver.turn(newcomer(2, tokens(200, 9), /*session=*/2));
  driver.turn(newcomer(3, tokens(300, 24)));
  EXPECT_EQ(driver.residency.match(newcomer(4, tokens(100, 9))).num_tokens, 0U);
  EXPECT_EQ(driver.residency.match(newcomer(4, tokens(200, 9))).num_tokens, 8U);
}

TEST(Eviction, FlushForgetsWhatNobodyUses) {
  ResidencyDriver driver(hybrid(12, 6));
  driver.turn(newcomer(1, tokens(0, 9), /*session=*/1));
  driver.turn(newcomer(2, tokens(100, 9)));
  ASSERT_TRUE(driver.admit(newcomer(3, tokens(100, 9))));
  driver.residency.flush();
  driver.residency.check();
  const CacheStats stats = driver.residency.stats();
  EXPECT_EQ(stats.pages_free, 10U);
  EXPECT_EQ(stats.slots_snapshot, 0U);
  EXPECT_TRUE(driver.memory.stored().empty());
  EXPECT_TRUE(driver.read_prompt(3)) << "a running sequence notices nothing";
}

TEST(Snapshots, AMatchEndsWhereThereIsOne) {
  ResidencyDriver driver(hybrid(20, 8));
  driver.turn(newcomer(1, tokens(0, 18)));
  EXPECT_EQ(driver.residency.match(newcomer(2, tokens(0, 18))).num_tokens, 16U) << "prompt's end";
  const Match match = driver.residency.match(newcomer(2, tokens(0, 11)));
  EXPECT_EQ(match.num_tokens, 0U);
  EXPECT_EQ(match.end, MatchEnd::no_state);
}

TEST(Snapshots, AreTakenWhereMessagesEnd) {
  ResidencyDriver driver(hybrid(20, 8));
  Newcomer chat = newcomer(1, tokens(0, 30));
  chat.message_ends = {9, 14, 22};
  driver.turn(chat);
  EXPECT_EQ(driver.turn(newcomer(2, tokens(0, 9) + tokens(100, 5))).num_tokens, 8U);
  EXPECT_EQ(driver.turn(newcomer(3, tokens(0, 22) + tokens(100, 5))).num_tokens, 20U);
}

TEST(Snapshots, TheSecondThatBranchesOffLeavesOneForTheThird) {
  ResidencyDriver driver(hybrid(40, 8));
  driver.turn(newcomer(1, tokens(0, 30)));
  EXPECT_EQ(driver.turn(newcomer(2, tokens(0, 18) + tokens(100, 12))).num_tokens, 0U);
  EXPECT_EQ(driver.turn(newcomer(3, tokens(0, 18) + tokens(200, 12))).num_tokens, 16U);
}

TEST(Snapshots, OfAnAnswerMovesAlongAndServesTheNextTurn) {
  ResidencyDriver driver(hybrid(20, 8));
  driver.turn(newcomer(1, tokens(0, 6)), tokens(50, 20));
  EXPECT_EQ(driver.residency.stats().slots_snapshot, 2U) << "prompt's end, answer's end";
  const auto history = tokens(0, 6) + tokens(50, 20);
  EXPECT_EQ(driver.turn(newcomer(2, history + tokens(80, 3))).num_tokens, 24U);
}

TEST(Snapshots, OfAnAnswerStaysWhereASessionEndedMeanwhile) {
  ResidencyDriver driver(hybrid(20, 8));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 6))));
  ASSERT_TRUE(driver.admit(newcomer(2, tokens(0, 6), /*session=*/1)));
  for (const SequenceId id : {1, 2}) {
    ASSERT_TRUE(driver.read_prompt(id));
    ASSERT_TRUE(driver.decode(id, tokens(50, 6)));
  }
  driver.release(2);
  ASSERT_TRUE(driver.decode(1, tokens(56, 6)));
  const auto history = tokens(0, 6) + tokens(50, 6);
  EXPECT_EQ(driver.turn(newcomer(3, history + tokens(80, 3))).num_tokens, 12U);
}

TEST(Snapshots, AreCopiesSoThatTwoMayGoOnFromOne) {
  ResidencyDriver driver(hybrid(20, 8));
  driver.turn(newcomer(1, tokens(0, 9)));
  ASSERT_EQ(driver.admit(newcomer(2, tokens(0, 9)))->num_tokens, 8U);
  ASSERT_EQ(driver.admit(newcomer(3, tokens(0, 8) + tokens(60, 3)))->num_tokens, 8U);
  ASSERT_TRUE(driver.read_prompt(2));
  ASSERT_TRUE(driver.read_prompt(3));
  ASSERT_TRUE(driver.decode(2, tokens(20, 5)));
  ASSERT_TRUE(driver.decode(3, tokens(70, 5)));
}

TEST(Snapshots, OfALongPromptLieFartherApartTheFartherFromItsEnd) {
  ResidencyDriver driver(hybrid(40, 20, /*interval=*/8));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 101))));
  std::vector<size_t> cuts;
  for (size_t at = 0; at != SIZE_MAX;) {
    at = driver.residency.next_cut(1, at);
    if (at != SIZE_MAX) cuts.push_back(at);
  }
  EXPECT_EQ(cuts, (std::vector<size_t>{44, 76, 92, 100}));
  ASSERT_TRUE(driver.read_prompt(1));
  EXPECT_EQ(driver.residency.stats().slots_snapshot, 4U);
}

TEST(Snapshots, ThereAreNoCutsInPlainModels) {
  ResidencyDriver driver(plain(40));
  Newcomer chat = newcomer(1, tokens(0, 30));
  chat.message_ends = {9, 14, 22};
  ASSERT_TRUE(driver.admit(chat));
  EXPECT_EQ(driver.residency.next_cut(1, 0), SIZE_MAX);
  EXPECT_EQ(driver.residency.state_slot(1), -1);
  EXPECT_EQ(driver.residency.num_slots_available(), SIZE_MAX);
}

TEST(Snapshots, ASequenceThatStopsOnTheGridLeavesItsOwnSlot) {
  ResidencyDriver driver(hybrid(20, 2));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 30))));
  driver.take_transfers();
  ASSERT_TRUE(driver.step(1, 12));
  const int32_t slot = driver.residency.state_slot(1);
  driver.release(1);
  ASSERT_EQ(driver.admit(newcomer(2, tokens(0, 30)))->num_tokens, 12U);
  EXPECT_NE(driver.residency.state_slot(2), slot);
  EXPECT_TRUE(driver.read_prompt(2));
}

TEST(Snapshots, GiveWayToSequences) {
  ResidencyDriver driver(hybrid(40, 3));
  driver.turn(newcomer(1, tokens(0, 30), /*session=*/1));
  for (SequenceId id = 2; id <= 4; ++id) {
    EXPECT_EQ(driver.residency.num_slots_available(), 5 - id);
    ASSERT_TRUE(driver.admit(newcomer(id, tokens(static_cast<TokenId>(100 * id), 9))));
  }
  EXPECT_FALSE(driver.admit(newcomer(5, tokens(0, 9))));
  for (SequenceId id = 2; id <= 4; ++id) {
    ASSERT_TRUE(driver.read_prompt(id)) << "without a slot for snapshots";
    ASSERT_TRUE(driver.decode(id, tokens(50, 10)));
  }
  EXPECT_EQ(driver.residency.stats().slots_snapshot, 0U);
}

TEST(Snapshots, TheOnlySlotIsHandedOverWithoutACopy) {
  ResidencyDriver driver(hybrid(20, 1));
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 30))));
  driver.take_transfers();
  ASSERT_TRUE(driver.step(1, 12));
  driver.release(1);
  ASSERT_EQ(driver.admit(newcomer(2, tokens(0, 30)))->num_tokens, 12U);
  EXPECT_TRUE(driver.residency.take_transfers().empty());
  EXPECT_TRUE(driver.read_prompt(2));
}

TEST(Snapshots, ThoseForTheWayDoNotCostASessionItsNewest) {
  ResidencyDriver driver(hybrid(60, 3, /*interval=*/8));
  driver.turn(newcomer(1, tokens(0, 9), /*session=*/1));
  driver.turn(newcomer(2, tokens(100, 9), /*session=*/2));
  ASSERT_TRUE(driver.admit(newcomer(3, tokens(300, 41))));
  driver.take_transfers();
  for (const size_t end : {size_t{16}, size_t{32}}) ASSERT_TRUE(driver.step(3, end));
  EXPECT_EQ(driver.residency.match(newcomer(4, tokens(0, 9))).num_tokens, 8U);
  EXPECT_EQ(driver.residency.match(newcomer(4, tokens(100, 9))).num_tokens, 8U);
  ASSERT_TRUE(driver.read_prompt(3));
  EXPECT_EQ(driver.residency.match(newcomer(4, tokens(0, 9))).num_tokens, 0U)
      << "the prompt's end is worth more than the oldest session";
}

TEST(Snapshots, OfSeveralOldOnesTheCheapestGoes) {
  ResidencyDriver driver(hybrid(60, 4));
  driver.turn(newcomer(1, tokens(0, 33)));   // saves 32 tokens
  driver.turn(newcomer(2, tokens(100, 9)));  // 8
  driver.turn(newcomer(3, tokens(200, 33)));
  ASSERT_TRUE(driver.admit(newcomer(4, tokens(300, 33))));
  ASSERT_TRUE(driver.read_prompt(4));
  EXPECT_EQ(driver.residency.match(newcomer(5, tokens(100, 9))).num_tokens, 0U);
  EXPECT_EQ(driver.residency.match(newcomer(5, tokens(0, 33))).num_tokens, 32U);
}

TEST(Snapshots, PagesBeyondTheLastOneAreFreed) {
  ResidencyDriver driver(hybrid(20, 1));
  driver.turn(newcomer(1, tokens(0, 30)));
  EXPECT_EQ(driver.residency.stats().pages_free, 20U) << "no slot for a snapshot, so no use";
}

TEST(Tiers, WhatWasEvictedIsLoaded) {
  ResidencyDriver driver(plain(4));
  driver.memory.tiers_on = true;
  driver.turn(newcomer(1, tokens(0, 16)));
  driver.turn(newcomer(2, tokens(100, 16)));
  const Match match = driver.turn(newcomer(3, tokens(0, 16)));
  EXPECT_EQ(match.num_tokens, 12U);
  EXPECT_EQ(match.num_pages_to_load, 3U);
  EXPECT_EQ(match.end, MatchEnd::all);
}

TEST(Tiers, ThereIsNoRoomForLoadsInPagesThatTheMatchItselfUses) {
  ResidencyDriver driver(plain(4));
  driver.memory.tiers_on = true;
  driver.turn(newcomer(1, tokens(0, 16)));
  ASSERT_TRUE(driver.admit(newcomer(2, tokens(100, 8))));
  ASSERT_TRUE(driver.read_prompt(2));
  const Match match = driver.residency.match(newcomer(3, tokens(0, 17)));
  EXPECT_EQ(match.num_pages_to_lock, 2U);
  EXPECT_EQ(match.num_pages_to_load, 2U);
  EXPECT_EQ(driver.residency.num_pages_available(), 2U);
  EXPECT_FALSE(driver.admit(newcomer(3, tokens(0, 17))));
  driver.release(2);
  EXPECT_TRUE(driver.admit(newcomer(3, tokens(0, 17))));
}

TEST(Tiers, AStateIsLoadedWithItsPages) {
  ResidencyDriver driver(hybrid(5, 2));
  driver.memory.tiers_on = true;
  driver.turn(newcomer(1, tokens(0, 17)));
  driver.turn(newcomer(2, tokens(100, 17)));
  const Match match = driver.turn(newcomer(3, tokens(0, 17)));
  EXPECT_EQ(match.num_tokens, 16U);
  EXPECT_EQ(match.num_pages_to_load, 4U);
  EXPECT_TRUE(match.loads_state);
}

TEST(Tiers, AStateAloneIsLoadedWhereThePagesStayed) {
  ResidencyDriver driver(hybrid(20, 3));
  driver.memory.tiers_on = true;
  ASSERT_TRUE(driver.admit(newcomer(1, tokens(0, 17))));
  ASSERT_TRUE(driver.read_prompt(1));
  ASSERT_TRUE(driver.admit(newcomer(2, tokens(100, 5))));
  ASSERT_TRUE(driver.admit(newcomer(3, tokens(200, 5))));  // takes the snapshot's slot
  driver.release(2);
  driver.take_transfers();
  const auto match = driver.admit(newcomer(4, tokens(0, 17)));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->num_tokens, 16U);
  EXPECT_EQ(match->num_pages_to_load, 0U);
  EXPECT_TRUE(match->loads_state);
  EXPECT_TRUE(driver.read_prompt(4));
}

TEST(Tiers, AreNotOfferedWhatTheyDoNotWant) {
  ResidencyDriver driver(plain(4));
  driver.turn(newcomer(1, tokens(0, 16)));
  driver.turn(newcomer(2, tokens(100, 16)));
  EXPECT_TRUE(driver.memory.stored().empty());
}

TEST(Tiers, AreOfferedEverythingBeforeTheEnd) {
  ResidencyDriver before(hybrid(20, 4));
  before.memory.tiers_on = true;
  before.turn(newcomer(1, tokens(0, 17)), tokens(50, 10));
  before.residency.save_all();
  before.take_transfers();

  ResidencyDriver after(hybrid(20, 4));
  after.memory.tiers_on = true;
  for (const auto& [key, bytes] : before.memory.stored()) after.memory.put(key, bytes);
  const Match match = after.turn(newcomer(1, tokens(0, 17) + tokens(50, 12)));
  EXPECT_EQ(match.num_tokens, 24U);
}

TEST(Tiers, ALoadThatFindsNothingIsTriedAgainWithoutIt) {
  ResidencyDriver driver(plain(4));
  driver.memory.tiers_on = true;
  driver.turn(newcomer(1, tokens(0, 16)));
  driver.turn(newcomer(2, tokens(100, 16)));
  ASSERT_EQ(driver.admit(newcomer(3, tokens(0, 16)))->num_pages_to_load, 3U);
  driver.take_transfers();
  driver.memory.lose(driver.running.at(3).loads[1].key);
  EXPECT_FALSE(driver.load(3));
  const Match match = driver.turn(newcomer(3, tokens(0, 16)));
  EXPECT_EQ(match.num_tokens, 4U);
}

TEST(Tiers, LoadsOfAReleasedSequenceAreDropped) {
  ResidencyDriver driver(plain(4));
  driver.memory.tiers_on = true;
  driver.turn(newcomer(1, tokens(0, 16)));
  driver.turn(newcomer(2, tokens(100, 16)));
  ASSERT_TRUE(driver.admit(newcomer(3, tokens(0, 16))));
  driver.release(3);
  const auto transfers = driver.residency.take_transfers();
  EXPECT_TRUE(std::ranges::none_of(transfers, &Transfer::is_load));
  EXPECT_FALSE(transfers.empty()) << "what was evicted for it is saved all the same";
}

// Turn by turn: the history, a question, an answer. Returns the tokens that were computed.
class Chat {
 public:
  Chat(ResidencyDriver& driver, uint64_t session) : driver_(driver), session_(session) {}

  size_t turn() {
    const auto question = more(7);
    const auto answer = more(9);
    const Newcomer next = newcomer(1000 * session_ + ++num_turns_, history_ + question, session_);
    const size_t num_known = driver_.turn(next, answer).num_tokens;
    history_ = history_ + question + answer;
    return history_.size() - num_known;
  }

 private:
  std::vector<TokenId> more(size_t count) {
    next_token_ += 100;
    return tokens(static_cast<TokenId>(session_ * 100'000) + next_token_, count);
  }

  ResidencyDriver& driver_;
  uint64_t session_;
  SequenceId num_turns_ = 0;
  std::vector<TokenId> history_;
  TokenId next_token_ = 0;
};

constexpr size_t kTurn = 7 + 9;
constexpr size_t kTurnAndRest = kTurn + kPageSize - 1;

TEST(Economy, AChatThatGoesOnComputesItsNewTokensOnly) {
  for (const size_t num_slots : {size_t{0}, size_t{3}}) {
    ResidencyDriver driver(hybrid(200, num_slots, /*interval=*/16));
    Chat chat(driver, 1);
    for (size_t turn = 0; turn < 40; ++turn) EXPECT_LE(chat.turn(), kTurnAndRest);
  }
}

TEST(Economy, ChatsWithASlotEachComputeTheirNewTokensOnlyWhateverElseRuns) {
  ResidencyDriver driver(hybrid(300, 8, /*interval=*/16));
  std::vector<Chat> chats;
  for (uint64_t session = 1; session <= 4; ++session) chats.emplace_back(driver, session);
  for (size_t turn = 0; turn < 10; ++turn) {
    for (Chat& chat : chats) EXPECT_LE(chat.turn(), kTurnAndRest);
    for (SequenceId id = 5 * turn + 1; id <= 5 * turn + 5; ++id) {
      driver.turn(newcomer(id, tokens(-1000 * static_cast<TokenId>(id), 60)), tokens(7, 9));
    }
  }
  EXPECT_GT(driver.residency.stats().pages_evicted, 100U);
}

TEST(Economy, OneChatMoreThanThereIsRoomForIsLoadedNotReadAgain) {
  for (const size_t num_slots : {size_t{0}, size_t{3}}) {
    ResidencyDriver driver(hybrid(50, num_slots));
    driver.memory.tiers_on = true;
    std::vector<Chat> chats;
    for (uint64_t session = 1; session <= 3; ++session) chats.emplace_back(driver, session);
    for (size_t turn = 0; turn < 8; ++turn) {
      for (Chat& chat : chats) EXPECT_LE(chat.turn(), kTurnAndRest);
    }
    EXPECT_GT(driver.residency.stats().pages_loaded, 20U);
  }
}

TEST(ResidencyDeathTest, MisuseAborts) {
  Residency residency(plain(4));
  ASSERT_TRUE(residency.admit(newcomer(1, tokens(0, 5))));
  EXPECT_DEATH((void)residency.admit(newcomer(1, tokens(0, 5))), "is_resident");
  EXPECT_DEATH((void)residency.pages(2), "residents_");
  EXPECT_DEATH(residency.computed(1, 5), "pages");
  ASSERT_TRUE(residency.cover(1, 8));
  EXPECT_DEATH(residency.computed(1, 6), "tokens");
  residency.release(2);
}

}  // namespace
}  // namespace evener::cache
