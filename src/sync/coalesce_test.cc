#include "sync/coalesce.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "control/test_shared.h"

namespace weir {
namespace {

struct GapTest : ::testing::Test {
  GapTest() {
    mmap(reinterpret_cast<void*>(kCountState), sizeof(CountState), PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    std::memset(shared().order.gaps, 0, sizeof shared().order.gaps);
    shared().order.waits_by_looking = 0;
    std::memset(&task, 0, sizeof task);
    task.turn.state = TurnState::kGap;
    task.turn.counted = 1;
  }
  GapTest(const GapTest&) = delete;
  GapTest& operator=(const GapTest&) = delete;

  // Events until the gap is tried again.
  uint32_t skipped(uint64_t key) {
    uint32_t count = 0;
    while (!is_gap_short(task, key)) count++;
    return count;
  }

  static inline Task task;
  const TestShared mapped;
};

TEST_F(GapTest, WhatIsFarIsTriedEverMoreRarely) {
  const uint32_t expected[] = {0, 1, 3, 7, 15, 31, 63, 127, 127};
  for (uint32_t times : expected) {
    EXPECT_EQ(skipped(7), times);
    note_long_gap(task);
  }
}

TEST_F(GapTest, WhatIsNearAgainIsForgiven) {
  for (int i = 0; i < 7; i++) {
    skipped(7);
    note_long_gap(task);
  }
  skipped(7);
  for (int i = 0; i < 3; i++) note_short_gap(task);
  EXPECT_EQ(skipped(7), 0u);
  note_long_gap(task);
  EXPECT_EQ(skipped(7), 1u);
}

TEST_F(GapTest, GapsAreToldApart) {
  EXPECT_TRUE(is_gap_short(task, 1));
  note_long_gap(task);
  EXPECT_TRUE(is_gap_short(task, 2));
  EXPECT_FALSE(is_gap_short(task, 1));
}

TEST_F(GapTest, PagesOfTheParallelPhaseRaiseTheCount) {
  is_gap_short(task, 1);
  EXPECT_EQ(gap_budget(task), kShortGap);
  note_long_gap(task);
  task.turn.long_gap = task.turn.gap + 1;
  note_price(task, 10);
  skipped(1);
  EXPECT_EQ(gap_budget(task), kShortGap + 10 * kShortGapPerPage);
  note_price(task, 99);  // of another interval
  EXPECT_EQ(gap_budget(task), kShortGap + 10 * kShortGapPerPage);
  task.turn.long_gap = task.turn.gap + 1;
  note_price(task, uint64_t{1} << 40);
  EXPECT_LT(gap_budget(task), uint64_t{1} << 26);
}

TEST_F(GapTest, OneThatWasAlwaysNearIsCountedNowAndThen) {
  is_gap_short(task, 1);
  for (int i = 0; i < kSure; i++) {
    EXPECT_TRUE(wants_count(task));
    note_short_gap(task);
  }
  uint32_t counted = 0;
  for (uint32_t i = 0; i < 80 * kCountEvery; i++) {
    counted += wants_count(task);
    note_short_gap(task);
  }
  EXPECT_EQ(counted, 80u);
  note_long_gap(task);
  EXPECT_TRUE(wants_count(task));
}

TEST_F(GapTest, ManyNearOnesDoNotOverflow) {
  is_gap_short(task, 1);
  for (int i = 0; i < 200'000; i++) note_short_gap(task);
  EXPECT_GE(shared().order.gaps[task.turn.gap].sure, kSure);
}

TEST_F(GapTest, AProgramThatLooksForOthersIsAlwaysCounted) {
  is_gap_short(task, 1);
  for (int i = 0; i < 3 * kSure + 1; i++) note_short_gap(task);
  EXPECT_FALSE(wants_count(task));
  shared().order.waits_by_looking = 1;
  EXPECT_TRUE(wants_count(task));
}

TEST_F(GapTest, AnOperationSetsTheCountAgain) {
  is_gap_short(task, 1);
  task.turn.coalesced_events = kWorthMoving + 1;
  count_state().left = 5;
  EXPECT_TRUE(goes_on(task, 2));
  EXPECT_EQ(count_state().left, static_cast<int64_t>(kShortGap));
  EXPECT_EQ(task.turn.coalesced_events, kWorthMoving + 2);
}

TEST_F(GapTest, ASignalThatCalledTheTaskInIsNotForgotten) {
  is_gap_short(task, 1);
  task.turn.coalesced_events = kWorthMoving + 1;
  const int64_t before = -(int64_t{1} << 62);
  count_state().left = before;
  // What a handler does between the look at the count and its change.
  const int64_t more = static_cast<int64_t>(gap_budget(task)) - 100;
  sys::add_at_once(count_state().left, more);
  EXPECT_LT(count_state().left, 0);
}

TEST_F(GapTest, TheTurnEndsInTheEnd) {
  is_gap_short(task, 1);
  task.in_place.away = 1;
  uint32_t count = 0;
  while (goes_on(task, 1)) count++;
  EXPECT_EQ(count, kMaxCoalesced);
}

TEST_F(GapTest, OutsideAKeptTurnNothingGoesOn) {
  task.turn.state = TurnState::kHolding;
  EXPECT_FALSE(goes_on(task, 1));
}

}  // namespace
}  // namespace weir
