// The tree of pages by itself: finding, how far others agree, the order of eviction.
#include "cache/prefix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cache/evicted_keys.h"
#include "cache/live_sessions.h"

namespace evener::cache {
namespace {

using Tokens = std::vector<TokenId>;

constexpr int32_t kNone = PrefixTree::kNone;
constexpr PrefixTree::Above kRoot = {.node = kNone, .salt = 0};

PrefixTree::Above below(int32_t node) { return {.node = node, .salt = 0}; }

TEST(PrefixTree, FindsAChildByAllItsTokens) {
  PrefixTree tree(8, 3);
  tree.insert(5, kRoot, Tokens{1, 2, 3});
  tree.insert(2, below(5), Tokens{4, 5, 6});
  EXPECT_EQ(tree.find_child(kRoot, Tokens{1, 2, 3}), 5);
  EXPECT_EQ(tree.find_child(kRoot, Tokens{1, 2, 4}), kNone);
  EXPECT_EQ(tree.find_child(below(5), Tokens{4, 5, 6}), 2);
  EXPECT_EQ(tree.find_child(below(5), Tokens{1, 2, 3}), kNone);
  EXPECT_EQ(tree.find_child({.node = kNone, .salt = 1}, Tokens{1, 2, 3}), kNone);
  tree.check(/*leaves_need_snapshots=*/false);
}

// Method: many children; a plain search over all of them is the judge.
TEST(PrefixTree, TellsHowFarAnyChildAgrees) {
  std::mt19937 random(3);
  PrefixTree tree(200, 6);
  std::vector<Tokens> pages;
  const auto page = [&] {
    Tokens tokens(6);
    for (TokenId& token : tokens) token = static_cast<TokenId>(random() % 3);
    return tokens;
  };
  for (int32_t i = 0; i < 200; ++i) {
    const Tokens tokens = page();
    EXPECT_EQ(tree.find_child(kRoot, tokens) != kNone, std::ranges::count(pages, tokens) == 1);

    size_t longest = 0;
    for (const Tokens& other : pages) {
      const auto end = std::ranges::mismatch(tokens, other).in1;
      longest = std::max(longest, static_cast<size_t>(end - tokens.begin()));
    }
    ASSERT_EQ(tree.agreement(kRoot, tokens), longest);
    if (longest == 6) continue;
    tree.insert(i, kRoot, tokens);
    pages.push_back(tokens);
  }
  tree.check(/*leaves_need_snapshots=*/false);
  EXPECT_GT(pages.size(), 100U);
}

TEST(PrefixTree, AParentIsEvictedAfterItsChildren) {
  PrefixTree tree(4, 1);
  tree.insert(0, kRoot, Tokens{1});
  tree.insert(1, below(0), Tokens{2});
  tree.insert(2, below(1), Tokens{3});
  tree.use(0);  // by a second sequence, which goes another way
  tree.insert(3, below(0), Tokens{9});
  for (const int32_t node : {2, 1, 0, 3}) tree.unuse(node);
  EXPECT_EQ(tree.first_to_evict(), 2);
  EXPECT_EQ(tree.num_unused(), 3U);
  tree.unuse(0);
  for (const int32_t node : {2, 1, 3, 0}) {
    EXPECT_EQ(tree.first_to_evict(), node);
    tree.remove(node);
    tree.check(/*leaves_need_snapshots=*/false);
  }
  EXPECT_EQ(tree.first_to_evict(), kNone);
  EXPECT_EQ(tree.num_nodes(), 0U);
}

TEST(PrefixTree, AKeptPathIsInNoOrderOfEviction) {
  PrefixTree tree(4, 1);
  tree.insert(0, kRoot, Tokens{1});
  tree.insert(1, below(0), Tokens{2});
  tree.set_snapshot(1, 7);
  tree.keep(1);
  for (const int32_t node : {1, 0}) tree.unuse(node);
  EXPECT_EQ(tree.first_to_evict(), kNone);
  EXPECT_EQ(tree.snapshot_to_evict(), kNone);
  EXPECT_EQ(tree.num_unused(), 2U);
  EXPECT_EQ(tree.num_kept(), 2U);
  EXPECT_EQ(tree.num_snapshots_kept(), 1U);
  tree.unkeep(1);
  EXPECT_EQ(tree.first_to_evict(), 1);
  EXPECT_EQ(tree.snapshot_to_evict(), 1);
  EXPECT_EQ(tree.take_snapshot(1), 7);
  tree.check(/*leaves_need_snapshots=*/false);
}

TEST(PrefixTreeDeathTest, MisuseAborts) {
  PrefixTree tree(4, 1);
  tree.insert(0, kRoot, Tokens{1});
  EXPECT_DEATH(tree.insert(0, kRoot, Tokens{2}), "contains");
  EXPECT_DEATH(tree.remove(0), "num_users");
  EXPECT_DEATH((void)tree.take_snapshot(0), "snapshot");
  tree.unuse(0);
  EXPECT_DEATH(tree.insert(1, below(0), Tokens{2}), "num_users");
  EXPECT_DEATH(tree.unuse(0), "num_users");
}

TEST(EntryKey, StandsForSaltAndAllTokens) {
  const Tokens a = {1, 2};
  const Tokens b = {2, 1};
  const EntryKey root = root_key(0);
  EXPECT_NE(root, root_key(1));
  EXPECT_NE(page_key(root, a), page_key(root, b));
  EXPECT_NE(page_key(root, a), page_key(root_key(1), a));
  EXPECT_NE(page_key(page_key(root, a), b), page_key(page_key(root, b), a));
  EXPECT_EQ(page_key(root, a), page_key(root_key(0), Tokens{1, 2}));
  EXPECT_NE(state_key(page_key(root, a)), page_key(root, a));
}

// These bytes are on people's disks.
TEST(EntryKey, StaysTheSameFromOneVersionToTheNext) {
  const EntryKey key = page_key(root_key(0), Tokens{1, 2, 3, 4});
  EXPECT_EQ(key.high, 10432685974644634910U);
  EXPECT_EQ(key.low, 738429893215296489U);
}

TEST(EvictedKeys, RememberLately) {
  EvictedKeys keys(4);
  const EntryKey a = root_key(1);
  EXPECT_FALSE(keys.contains(a));
  keys.remember(a);
  EXPECT_TRUE(keys.contains(a));
  for (uint64_t salt = 2; salt < 200; ++salt) keys.remember(root_key(salt));
  EXPECT_FALSE(keys.contains(a));
  keys.clear();
  EXPECT_FALSE(keys.contains(root_key(199)));
}

TEST(LiveSessions, DropTheOneThatEndedFirst) {
  LiveSessions sessions;
  EXPECT_EQ(sessions.set({.id = 1, .end = 10}), std::nullopt);
  EXPECT_EQ(sessions.set({.id = 2, .end = 20}), std::nullopt);
  EXPECT_EQ(sessions.set({.id = 1, .end = 11}), 10);
  EXPECT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions.drop_oldest()->end, 20);
  EXPECT_EQ(sessions.drop_oldest()->end, 11);
  EXPECT_EQ(sessions.drop_oldest(), std::nullopt);
  EXPECT_EQ(sessions.set({.id = 1, .end = 12}), std::nullopt);
}

}  // namespace
}  // namespace evener::cache
