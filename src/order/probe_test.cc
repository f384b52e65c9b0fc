#include "order/probe.h"

#include <gtest/gtest.h>

#include <cstring>

#include "control/test_shared.h"

namespace weir::order {
namespace {

constexpr uint64_t kMs = 1'000'000, kMinute = 60'000 * kMs;

// Of the tasks that wait, one asks what the others do.
struct AskerTest : ::testing::Test {
  AskerTest() {
    s.order.asker = 0;
    s.order.asker_due = 0;
    for (uint32_t i = 0; i < kTasks; i++) {
      std::memset(&s.tasks[i], 0, sizeof s.tasks[i]);
      s.tasks[i].id = i;
    }
  }
  AskerTest(const AskerTest&) = delete;
  AskerTest& operator=(const AskerTest&) = delete;

  // The task is about to wait, and sleeps then.
  bool waits(uint32_t number, uint64_t& patience) {
    const bool asks = asks_for_all(s.tasks[number], patience);
    s.tasks[number].order.sleeping = 1;
    return asks;
  }

  static constexpr uint32_t kTasks = 16;
  const TestShared mapped;
  Shared& s = shared();
};

TEST_F(AskerTest, OnlyTheFirstOfManyAsks) {
  uint64_t patience = kMinute;
  EXPECT_TRUE(waits(0, patience));
  EXPECT_EQ(patience, kMinute);
  for (uint32_t i = 1; i < kTasks; i++) {
    uint64_t its = 2 * kMinute;
    EXPECT_FALSE(waits(i, its)) << i;
    EXPECT_EQ(its, kMaxProbeNs);  // it sleeps for as long as anyone may
  }
}

TEST_F(AskerTest, OthersSleepFourTimesAsLong) {
  uint64_t first = kMs;
  EXPECT_TRUE(waits(0, first));
  uint64_t patience = 100 * kMs;
  EXPECT_FALSE(waits(1, patience));
  EXPECT_EQ(patience, 400 * kMs);
}

TEST_F(AskerTest, WhoWouldAskBeforeTheAskerDoesSo) {
  uint64_t late = kMinute, soon = kMs, patience = 2 * kMinute;
  EXPECT_TRUE(waits(0, late));
  EXPECT_TRUE(waits(1, soon));
  s.order.asker_due += kMinute;  // lest this machine be slow
  EXPECT_FALSE(waits(2, patience = 3 * kMinute));
}

TEST_F(AskerTest, AnAskerThatIsAwakeAsksForNobody) {
  uint64_t patience = kMs;
  EXPECT_TRUE(waits(0, patience));
  s.tasks[0].order.sleeping = 0;
  patience = kMinute;
  EXPECT_TRUE(waits(1, patience));
}

}  // namespace
}  // namespace weir::order
