#include "sync/turn.h"

#include <gtest/gtest.h>

#include <cstring>

namespace weir {
namespace {

using enum TurnState;

struct TurnTest : ::testing::Test {
  TurnTest() { std::memset(&task, 0, sizeof task); }
  void begin(TurnState state) {
    set_turn_state(task, kNone, kHolding);
    if (state != kHolding) set_turn_state(task, kHolding, state);
  }
  static inline Task task;
};

TEST(TurnStates, ATaskComesFromNoneToEachAndBack) {
  uint32_t reached = turn::bit(kNone);
  for (uint32_t round = 0; round < turn::kStates; round++)
    for (uint32_t i = 0; i < turn::kStates; i++)
      if (reached & 1u << i) reached |= turn::next_of(static_cast<TurnState>(i));
  EXPECT_EQ(reached, (1u << turn::kStates) - 1);
  for (uint32_t i = 1; i < turn::kStates; i++)
    EXPECT_TRUE(turn::next_of(static_cast<TurnState>(i)) & turn::bit(kNone)) << i;
}

TEST(TurnStates, NoReasonEndsATurnThatIsNone) {
  for (uint32_t why = 0; why < kReleaseReasons; why++)
    EXPECT_FALSE(turn::ended_by(static_cast<ReleaseReason>(why)) & turn::any_of(kNone, kCreating));
}

TEST(TurnStates, EachStateWithATurnIsEndedBySomeReason) {
  uint32_t ended = 0;
  for (uint32_t why = 0; why < kReleaseReasons; why++)
    ended |= turn::ended_by(static_cast<ReleaseReason>(why));
  EXPECT_EQ(ended | turn::any_of(kNone, kCreating), (1u << turn::kStates) - 1);
}

TEST_F(TurnTest, ASectionLastsUntilItsLastMutex) {
  begin(kHolding);
  enter_section(task, 8);
  EXPECT_EQ(task.turn.state, kSection);
  enter_section(task, 16);
  EXPECT_EQ(task.turn.held, 2u);
  EXPECT_EQ(task.turn.section, 8u);
  begin_section_event(task);
  EXPECT_TRUE(is_in_section_event(task));
  leave_section(task);
  EXPECT_EQ(task.turn.state, kSection);
  begin_section_event(task);
  leave_section(task);
  EXPECT_EQ(task.turn.state, kHolding);
}

TEST_F(TurnTest, ASectionInAGapEndsInTheGap) {
  begin(kGap);
  enter_section(task, 8);
  EXPECT_EQ(task.turn.state, kGapSection);
  EXPECT_TRUE(is_in_gap(task));
  begin_section_event(task);
  EXPECT_TRUE(is_in_gap(task));
  end_section_event(task);
  EXPECT_EQ(task.turn.state, kGapSection);
  leave_section(task);
  EXPECT_EQ(task.turn.state, kGap);
}

// Its task may wait for another one by a loop that makes no event.
TEST_F(TurnTest, ASectionInAGapEndsWhereTheNextEventIsFar) {
  begin(kGap);
  enter_section(task, 8);
  EXPECT_TRUE(turn::is_any(task, turn::ended_by(ReleaseReason::kNextIsFar)));
}

TEST_F(TurnTest, WhatIsNoTransitionEndsTheProgram) {
  EXPECT_EXIT(set_turn_state(task, kNone, kGap), ::testing::ExitedWithCode(125), "");
  EXPECT_EXIT(set_turn_state(task, kHolding, kNone), ::testing::ExitedWithCode(125), "");
}

}  // namespace
}  // namespace weir
