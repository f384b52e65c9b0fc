#include "cli/hunt/report/conflicts.h"

#include <gtest/gtest.h>

namespace weir::cli::hunt {
namespace {

constexpr uint64_t kX = 0x404040, kY = 0x404080;
constexpr uint64_t kReads = 0x1000, kWrites = 0x1004, kLooks = 0x1008;

LoggedSwitch stop(uint32_t task, uint32_t to, uint64_t address = 0) {
  LoggedSwitch one;
  one.at.task = task;
  one.at.to = to;
  one.reason = "preempt";
  one.place.address = address;
  return one;
}

LoggedTouch touch(uint64_t changes, uint32_t task, bool is_write, uint64_t address, uint64_t rip) {
  return {changes, task, is_write, 4, address, rip};
}

// Task 1 reads x, is stopped, and writes it; task 2 does both in between.
ScheduleLog lost_update() {
  ScheduleLog log;
  log.switches = {stop(1, 2, kWrites), stop(2, 1)};
  log.touches = {touch(0, 1, false, kX, kReads), touch(1, 2, false, kX, kReads),
                 touch(1, 2, true, kX, kWrites), touch(2, 1, true, kX, kWrites)};
  return log;
}

// Both, one after the other.
ScheduleLog kept_update() {
  ScheduleLog log;
  log.switches = {stop(1, 2)};
  log.touches = {touch(0, 1, false, kX, kReads), touch(0, 1, true, kX, kWrites),
                 touch(1, 2, false, kX, kReads), touch(1, 2, true, kX, kWrites)};
  return log;
}

TEST(Conflicts, TheAccessesAroundAStopAreFound) {
  const ScheduleLog log = lost_update(), without = kept_update();
  const auto found = conflict_at(log, 0, &without);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_new);
  EXPECT_TRUE(found->is_made);
  EXPECT_EQ(found->meanwhile.task, 2u);
  EXPECT_TRUE(found->meanwhile.is_write);
  EXPECT_EQ(found->later.rip, kWrites);
  ASSERT_TRUE(found->earlier);
  EXPECT_EQ(found->earlier->rip, kReads);
  EXPECT_TRUE(conflict_at(log, 0, nullptr));
}

TEST(Conflicts, NextIsOnlyWhatTheStoppedInstructionDoes) {
  ScheduleLog log = lost_update();
  ASSERT_TRUE(next_touch(log, 0));
  EXPECT_TRUE(next_touch(log, 0)->is_write);
  log.switches[0].place.address = kLooks;
  EXPECT_FALSE(next_touch(log, 0));
}

TEST(Conflicts, ReadsOfBothAndOtherMemoryAreNone) {
  ScheduleLog log;
  log.switches = {stop(1, 2), stop(2, 1)};
  log.touches = {touch(1, 2, false, kX, kReads), touch(1, 2, true, kY, kWrites),
                 touch(2, 1, false, kX, kReads)};
  EXPECT_FALSE(conflict_at(log, 0, nullptr));
}

TEST(Conflicts, WhatTheTaskHasWrittenItselfSinceHidesTheOther) {
  ScheduleLog log = lost_update();
  log.touches.push_back(touch(2, 1, false, kX, kLooks));
  const auto found = conflict_at(log, 0, nullptr);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->later.rip, kWrites);  // not the read of its own write
}

TEST(Conflicts, AnAccessThatComesInAnotherOrderIsPreferred) {
  // Task 1 reads y first, which task 2 has written in both runs.
  ScheduleLog log = lost_update(), without = kept_update();
  log.touches.insert(log.touches.begin() + 1, touch(1, 2, true, kY, 0x2000));
  log.touches.insert(log.touches.end() - 1, touch(2, 1, false, kY, 0x2004));
  without.touches.insert(without.touches.begin(), touch(0, 2, true, kY, 0x2000));
  without.touches.insert(without.touches.begin() + 1, touch(0, 1, false, kY, 0x2004));
  EXPECT_EQ(conflict_at(log, 0, nullptr)->later.address, kY);
  EXPECT_EQ(conflict_at(log, 0, &without)->later.address, kX);
}

TEST(Conflicts, OfATaskThatNeverGoesOnTheOtherRunSaysWhatWouldCome) {
  ScheduleLog log = lost_update();
  const ScheduleLog without = kept_update();
  log.switches.pop_back();
  log.touches.pop_back();
  const auto found = conflict_at(log, 0, &without);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_made);
  EXPECT_EQ(found->later.rip, kWrites);
  EXPECT_FALSE(conflict_at(log, 0, nullptr));
}

}  // namespace
}  // namespace weir::cli::hunt
