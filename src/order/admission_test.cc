#include "order/admission.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "control/test_shared.h"

namespace weir::order {
namespace {

// As the pages of an interval decide: 24 and more is long, and only three times the longest short
// one is throttled.
constexpr uint32_t kLong = 100, kShort = 3;

struct AdmissionTest : ::testing::Test {
  AdmissionTest() {
    s.order.high_task = 0;
    s.order.throttled_phases = s.order.throttle_credit = s.order.leave_be = 0;
    s.order.clock = 0;
    std::memset(s.order.interval_lengths, 0, sizeof s.order.interval_lengths);
  }
  AdmissionTest(const AdmissionTest&) = delete;
  AdmissionTest& operator=(const AdmissionTest&) = delete;

  Task& add(uint32_t expected, uint64_t clock, TaskState state = TaskState::kServed) {
    Task& task = s.tasks[s.order.high_task++];
    std::memset(&task, 0, sizeof task);
    task.order.state = state;
    task.order.expected = expected;
    task.order.clock = clock;
    task.spent.counters.events = 1;
    return task;
  }
  std::vector<uint32_t> throttled() {
    choose_runners(s);
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < s.order.high_task; i++) {
      if (s.tasks[i].order.throttled) found.push_back(i);
    }
    return found;
  }
  using Ids = std::vector<uint32_t>;

  const TestShared mapped;
  Shared& s = shared();
};

TEST_F(AdmissionTest, NobodyIsThrottledWithoutLongIntervals) {
  for (uint32_t i = 0; i < 4; i++) add(kShort + i, i);
  EXPECT_EQ(throttled(), Ids());
}

TEST_F(AdmissionTest, NobodyIsThrottledWhereAllAreLong) {
  for (uint32_t i = 0; i < 4; i++) add(kLong, 10 * i);
  EXPECT_EQ(throttled(), Ids());
}

TEST_F(AdmissionTest, LongOnesWaitWhileAShortOneIsBehind) {
  add(kLong, 0);
  add(kShort, 50);
  add(kLong, 20);
  EXPECT_EQ(throttled(), (Ids{0, 2}));
}

TEST_F(AdmissionTest, TheHorizonIsWhereTheFirstLongOneWillBe) {
  add(kLong, 0);
  Task& reader = add(kShort, kLong - 1);
  EXPECT_EQ(throttled(), Ids{0});
  reader.order.clock = kLong;  // it has caught up
  EXPECT_EQ(throttled(), Ids());
}

TEST_F(AdmissionTest, ALittleLongerIsNotWorthWaitingFor) {
  add(30, 0);
  add(20, 0);
  EXPECT_EQ(throttled(), Ids());
}

TEST_F(AdmissionTest, ANewTaskIsGivenTheChanceToBeLong) {
  add(kLong, 0);
  add(kShort, 0);
  Task& fresh = add(0, 0, TaskState::kReady);
  fresh.spent.counters.events = 0;
  EXPECT_EQ(throttled(), Ids());
  fresh.spent.counters.events = 1;
  EXPECT_EQ(throttled(), Ids{0});
}

TEST_F(AdmissionTest, WhoCannotRunDoesNotCount) {
  for (const TaskState state :
       {TaskState::kFree, TaskState::kBlocked, TaskState::kOutside, TaskState::kArrived}) {
    s.order.high_task = 0;
    s.order.throttled_phases = 0;
    add(kLong, 0);
    add(kShort, 0, state);
    EXPECT_EQ(throttled(), Ids()) << "short, state " << static_cast<uint32_t>(state);
    s.order.high_task = 0;
    s.order.throttled_phases = 0;
    add(kShort, 0);
    add(kLong, 0, state);
    EXPECT_EQ(throttled(), Ids()) << "long, state " << static_cast<uint32_t>(state);
  }
}

TEST_F(AdmissionTest, AMarkFromBeforeIsTakenAway) {
  add(kShort, 0).order.throttled = 1;
  add(kLong, 0, TaskState::kBlocked).order.throttled = 1;
  EXPECT_EQ(throttled(), Ids());
}

TEST_F(AdmissionTest, CatchingUpHasAnEnd) {
  add(kLong, 0);
  add(kShort, 0);
  int phases = 0;
  while (!throttled().empty()) {
    phases++;
    ASSERT_LE(phases, 64);
  }
  EXPECT_EQ(phases, 64);
}

TEST_F(AdmissionTest, WhereItGainsNothingItIsLeftBeForAWhile) {
  add(kLong, 0);
  Task& reader = add(kShort, 0);
  EXPECT_EQ(throttled(), Ids{0});
  reader.order.state = TaskState::kBlocked;  // after one event it waits for somebody
  EXPECT_EQ(throttled(), Ids());
  reader.order.state = TaskState::kServed;
  int passed_over = 0;
  while (throttled().empty()) {
    passed_over++;
    ASSERT_LE(passed_over, 32);
  }
  EXPECT_EQ(passed_over, 32);
}

TEST_F(AdmissionTest, WhatHasPaidMayFailAFewTimes) {
  add(kLong, 0);
  Task& reader = add(kShort, 0);
  for (int phase = 0; phase < 3; phase++) EXPECT_EQ(throttled(), Ids{0});
  int tries = 0;
  do {
    reader.order.state = TaskState::kBlocked;
    EXPECT_EQ(throttled(), Ids());
    reader.order.state = TaskState::kServed;
    tries++;
    ASSERT_LE(tries, 20);
  } while (!throttled().empty());
  EXPECT_EQ(tries, 1 + 8 + 1);  // the one that paid, its credit, the one without
}

TEST_F(AdmissionTest, SomebodyAlwaysGoesOn) {
  uint64_t random = 1;
  const auto next = [&](uint64_t below) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return (random >> 33) % below;
  };
  for (int run = 0; run < 2000; run++) {
    s.order.high_task = 0;
    const uint64_t count = 1 + next(12);
    for (uint64_t i = 0; i < count; i++) {
      add(static_cast<uint32_t>(next(200)), next(300), static_cast<TaskState>(next(7)))
          .spent.counters.events = next(2);
    }
    uint32_t can_run = 0, stands = 0;
    for (const uint32_t id : throttled()) {
      stands++;
      ASSERT_GE(s.tasks[id].order.expected, 24u);
    }
    for (uint64_t i = 0; i < count; i++)
      can_run += s.tasks[i].order.state == TaskState::kServed ||
                 s.tasks[i].order.state == TaskState::kReady;
    ASSERT_TRUE(can_run == 0 || stands < can_run);
  }
}

TEST_F(AdmissionTest, WhoComesBackIsNoEarlierThanTheTurn) {
  Task& task = add(0, 5);
  s.order.clock = 9;
  catch_up(task);
  EXPECT_EQ(task.order.clock, 9u);
  task.order.clock = 12;
  catch_up(task);
  EXPECT_EQ(task.order.clock, 12u);
}

TEST_F(AdmissionTest, WhatAnIntervalChangedForetellsTheNext) {
  Task& task = add(0, 0);
  task.order.interval_key = 77;
  note_interval(task, 99);
  EXPECT_EQ(s.order.clock, task.order.clock);
  predict_interval(task);
  EXPECT_EQ(task.order.expected, 100u);
  task.order.interval_key = 77 + kIntervalLengths;  // the same place, another interval
  predict_interval(task);
  EXPECT_EQ(task.order.expected, 0u);
  task.order.interval_key = 0;
  note_interval(task, 3);
  predict_interval(task);
  EXPECT_EQ(task.order.expected, 0u);
}

}  // namespace
}  // namespace weir::order
