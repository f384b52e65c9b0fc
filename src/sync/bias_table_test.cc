#include "sync/bias_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace weir {
namespace {

std::set<uint64_t> g_unpublished;
bool is_unpublished(const BiasTable::User& user) { return g_unpublished.count(user.creation) != 0; }

class BiasTableTest : public ::testing::Test {
 protected:
  void SetUp() override { g_unpublished.clear(); }
  bool use(uint64_t object, uint64_t who, uint64_t round, bool may_bias = true) {
    return table_->use(object, {who, static_cast<TaskId>(who)}, round, may_bias, is_unpublished);
  }
  std::unique_ptr<BiasTable> table_ = std::make_unique<BiasTable>();
};

TEST_F(BiasTableTest, FirstUserOwns) {
  EXPECT_FALSE(table_->is_biased_to(64, 1));
  EXPECT_TRUE(use(64, 1, 1));
  EXPECT_TRUE(table_->is_biased_to(64, 1));
  EXPECT_FALSE(table_->is_biased_to(64, 2));
  EXPECT_TRUE(table_->is_biased_elsewhere(64, 2));
  EXPECT_FALSE(table_->is_biased_elsewhere(64, 1));
}

TEST_F(BiasTableTest, AddressZeroBelongsToNobody) {
  EXPECT_FALSE(table_->is_biased_to(0, 0));
  EXPECT_FALSE(table_->is_biased_elsewhere(0, 1));
}

TEST_F(BiasTableTest, WhatMayNotBeBiasedStaysWithoutEntry) {
  EXPECT_TRUE(use(64, 1, 1, false));
  EXPECT_FALSE(table_->is_biased_to(64, 1));
  EXPECT_TRUE(use(64, 2, 1));
  EXPECT_TRUE(table_->is_biased_to(64, 2));
  EXPECT_TRUE(use(64, 1, 2, false));  // but it ends another's ownership
  EXPECT_FALSE(table_->is_biased_to(64, 2));
}

TEST_F(BiasTableTest, SecondUserSharesWithOneThatHasPublished) {
  EXPECT_TRUE(use(64, 1, 1));
  EXPECT_TRUE(use(64, 2, 1));
  EXPECT_FALSE(table_->is_biased_to(64, 1));
  EXPECT_FALSE(table_->is_biased_to(64, 2));
  EXPECT_FALSE(table_->is_biased_elsewhere(64, 3));
}

TEST_F(BiasTableTest, SecondUserWaitsForTheEndOfTheRound) {
  EXPECT_TRUE(use(64, 3, 1));
  g_unpublished = {3};
  EXPECT_FALSE(use(64, 1, 5));
  EXPECT_FALSE(table_->is_biased_to(64, 3));
  EXPECT_FALSE(use(64, 2, 5));  // so does a third in the same round
  EXPECT_FALSE(use(64, 1, 5));
  EXPECT_TRUE(
      use(64, 1, 6));  // though the holder that was has unpublished uses again, of other objects
  EXPECT_TRUE(use(64, 2, 6));
}

TEST_F(BiasTableTest, RevokedHolderGoesOnInItsOwnTurn) {
  EXPECT_TRUE(use(64, 3, 1));
  g_unpublished = {3};
  EXPECT_FALSE(use(64, 1, 5));
  g_unpublished = {};
  EXPECT_TRUE(use(64, 3, 5));
  EXPECT_FALSE(table_->is_biased_to(64, 3));
  EXPECT_TRUE(use(64, 4, 5));
}

TEST_F(BiasTableTest, ManyUsesInARowOwnAgain) {
  EXPECT_TRUE(use(64, 1, 1));
  EXPECT_TRUE(use(64, 2, 1));
  for (uint32_t i = 1; i < BiasTable::kBiasAgain; i++) {
    EXPECT_FALSE(table_->is_biased_to(64, 2));
    EXPECT_TRUE(use(64, 2, 1 + i));
  }
  EXPECT_TRUE(table_->is_biased_to(64, 2));
  EXPECT_TRUE(use(64, 1, 100));
  EXPECT_FALSE(table_->is_biased_to(64, 2));
  for (uint32_t i = 0; i < 3 * BiasTable::kBiasAgain; i++) EXPECT_TRUE(use(64, 1 + i % 2, 101 + i));
  EXPECT_FALSE(table_->is_biased_to(64, 1) || table_->is_biased_to(64, 2));
}

TEST_F(BiasTableTest, WaitsAreRememberedForSomeReleases) {
  EXPECT_TRUE(table_->is_waited_for(64));  // unknown
  EXPECT_TRUE(use(64, 1, 1));
  EXPECT_FALSE(table_->is_waited_for(64));
  table_->note_wait(64);
  for (uint32_t i = 0; i < BiasTable::kWaitedFor; i++) {
    EXPECT_TRUE(table_->is_waited_for(64));
    table_->note_release(64);
  }
  EXPECT_FALSE(table_->is_waited_for(64));
  table_->note_release(64);
  EXPECT_FALSE(table_->is_waited_for(64));
  table_->note_wait(72);  // unknown: nothing to remember it in
  EXPECT_TRUE(table_->is_waited_for(72));
}

// Random uses against a map of what is true. An entry may be lost (its place is given to another),
// but never while its holder has unpublished uses, and nobody is let in before those are published.
TEST_F(BiasTableTest, NobodyIsLetInBeforeTheHolderHasPublished) {
  constexpr uint64_t kObjects = 400'000, kTasks = 6;  // three for each place in the table
  std::mt19937_64 random(7);
  // Object -> who has changed it without a turn in this round.
  std::map<uint64_t, uint64_t> changed;
  for (uint64_t round = 1; round < 300; round++) {
    g_unpublished.clear();
    changed.clear();
    std::vector<uint64_t> objects;
    for (int i = 0; i < 2000; i++) objects.push_back(8 * (1 + random() % kObjects));
    for (uint64_t object : objects) {
      const uint64_t who = 1 + random() % kTasks;
      if (!table_->is_biased_to(object, who)) continue;
      changed[object] = who;
      g_unpublished.insert(who);
    }
    for (uint64_t who = 1; who <= kTasks; who++) {  // turns
      g_unpublished.erase(who);
      std::erase_if(changed, [&](const auto& entry) { return entry.second == who; });
      for (int i = 0; i < 400; i++) {
        const uint64_t object = objects[random() % objects.size()];
        const bool let_in = use(object, who, round, random() % 4 != 0);
        if (!let_in) continue;
        EXPECT_EQ(changed.count(object), 0u);
        for (uint64_t other = 1; other <= kTasks; other++)
          EXPECT_FALSE(other != who && table_->is_biased_to(object, other));
      }
    }
  }
}

}  // namespace
}  // namespace weir
