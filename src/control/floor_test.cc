#include "control/floor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "control/control.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "control/test_shared.h"

namespace weir {

namespace runtime {
bool g_is_in_place_process = false;  // runtime/start.cc, which is not part of the tests
}  // namespace runtime

namespace {

struct FloorTest : ::testing::Test {
  FloorTest() {
    shared().order.high_task = 2;
    g_counts_phases = true;
    for (TaskId i = 0; i < 2; i++) {
      shared().tasks[i].id = i;
      shared().tasks[i].order.state = TaskState::kRunning;
      shared().tasks[i].spent.floor = TaskFloor{};
    }
    shared().spent.floor = Floor{};
    shared().spent.ended_floor = EndedFloor{};
  }
  ~FloorTest() override { g_counts_phases = false; }
  FloorTest(const FloorTest&) = delete;
  FloorTest& operator=(const FloorTest&) = delete;

  static TaskFloor& of(TaskId id) { return shared().tasks[id].spent.floor; }
  static void compute(TaskId id, uint64_t beside, uint64_t kept) {
    of(id).beside += beside;
    of(id).kept += kept;
    of(id).all += beside + kept;
    shared().spent.floor.kept += kept;
  }

  const TestShared mapped;
};

TEST_F(FloorTest, ARoundTakesItsLongestTask) {
  compute(0, 30, 0);
  compute(1, 50, 0);
  floor::begin_serial(shared());
  compute(0, 20, 0);
  compute(1, 10, 0);
  floor::begin_serial(shared());
  EXPECT_EQ(shared().spent.floor.longest, 70u);
  EXPECT_EQ(floor::today(shared()), 70u);
  EXPECT_EQ(floor::unfenced(shared()), 60u);
  EXPECT_EQ(shared().spent.floor.rounds, 2u);
}

TEST_F(FloorTest, KeptTurnsComeOneAfterTheOther) {
  compute(0, 10, 100);
  compute(1, 10, 80);
  floor::begin_serial(shared());
  EXPECT_EQ(floor::today(shared()), 190u);
  EXPECT_EQ(floor::unkept(shared()), 110u);
}

TEST_F(FloorTest, TurnsAreAFloorOfTheirOwn) {
  compute(0, 10, 0);
  shared().spent.floor.turn = 40;
  EXPECT_EQ(floor::unfenced(shared()), 40u);
}

TEST_F(FloorTest, WithoutFencesATurnWaitsForTheTurnBefore) {
  Floor& all = shared().spent.floor;
  floor::go_on(all, of(0), 50, false);
  floor::go_on(all, of(1), 10, false);
  floor::go_on(all, of(0), 5, true);   // 50 to 55
  floor::go_on(all, of(1), 20, true);  // 55 to 75, though it came at 10
  floor::go_on(all, of(0), 40, false);
  floor::go_on(all, of(0), 5, true);  // 95 to 100
  EXPECT_EQ(of(1).in_turns, 75u);
  EXPECT_EQ(floor::in_turns(shared()), 100u);
  EXPECT_EQ(of(1).by_waits, 30u);
  EXPECT_EQ(floor::by_waits(shared()), 100u);
}

TEST_F(FloorTest, WithoutTurnsATaskWaitsForItsMakerAndWhoWakesIt) {
  Floor& all = shared().spent.floor;
  Task& first = shared().tasks[0];
  Task& second = shared().tasks[1];
  floor::go_on(all, of(0), 30, false);
  floor::begin_task(first, second);
  EXPECT_EQ(of(1).by_waits, 30u);
  EXPECT_EQ(of(1).in_turns, 30u);
  floor::go_on(all, of(0), 30, true);
  floor::go_on(all, of(1), 10, false);
  floor::wake_task(first, second);
  EXPECT_EQ(of(1).by_waits, 60u);
  floor::go_on(all, of(1), 50, true);
  floor::wake_task(first, second);  // which is later than the one that wakes it
  EXPECT_EQ(of(1).by_waits, 110u);
  EXPECT_EQ(floor::by_waits(shared()), 110u);
}

TEST_F(FloorTest, TheLongestThatHasEndedCountsInEachOrder) {
  of(1).all = 10, of(1).in_turns = 70, of(1).by_waits = 20;
  floor::end_task(shared(), shared().tasks[1]);
  of(1).all = 30, of(1).in_turns = 5, of(1).by_waits = 5;
  floor::end_task(shared(), shared().tasks[1]);
  shared().tasks[1].order.state = TaskState::kFree;
  EXPECT_EQ(floor::unfenced(shared()), 30u);
  EXPECT_EQ(floor::in_turns(shared()), 70u);
  EXPECT_EQ(floor::by_waits(shared()), 20u);
}

TEST_F(FloorTest, ATaskThatHasEndedCounts) {
  compute(0, 10, 0);
  shared().tasks[1].order.state = TaskState::kFree;
  shared().spent.ended_floor.all = 25;
  EXPECT_EQ(floor::unfenced(shared()), 25u);
}

}  // namespace
}  // namespace weir
