#include "control/floor.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "control/control.h"
#include "control/phase_timer.h"
#include "control/process.h"

namespace weir {

namespace runtime {
bool g_is_in_place_process = false;  // runtime/start.cc, which is not part of the tests
}  // namespace runtime

namespace {

struct FloorTest : ::testing::Test {
  FloorTest() {
    void* at = mmap(reinterpret_cast<void*>(kControl), sizeof(Shared), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    mapped = at != MAP_FAILED;
    shared().order.high_task = 2;
    g_counts_phases = true;
    for (TaskId i = 0; i < 2; i++) {
      shared().tasks[i].id = i;
      shared().tasks[i].order.state = TaskState::kRunning;
      shared().tasks[i].spent.floor = TaskFloor{};
    }
    shared().spent.floor = Floor{};
    shared().spent.floor_of_ended = 0;
  }
  ~FloorTest() override {
    g_counts_phases = false;
    if (mapped) munmap(reinterpret_cast<void*>(kControl), sizeof(Shared));
  }
  FloorTest(const FloorTest&) = delete;
  FloorTest& operator=(const FloorTest&) = delete;

  static TaskFloor& of(TaskId id) { return shared().tasks[id].spent.floor; }
  static void compute(TaskId id, uint64_t beside, uint64_t kept) {
    of(id).beside += beside;
    of(id).kept += kept;
    of(id).all += beside + kept;
    shared().spent.floor.kept += kept;
  }

  bool mapped;
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

TEST_F(FloorTest, ATaskThatHasEndedCounts) {
  compute(0, 10, 0);
  shared().tasks[1].order.state = TaskState::kFree;
  shared().spent.floor_of_ended = 25;
  EXPECT_EQ(floor::unfenced(shared()), 25u);
}

}  // namespace
}  // namespace weir
