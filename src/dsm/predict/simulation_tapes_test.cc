// Simulations with tapes: replayed, and as they were recorded.
#include <gtest/gtest.h>

#include "dsm/predict/simulation.h"
#include "dsm/predict/test_recording.h"

namespace weir::predict {
namespace {

// Node 0 writes, node 1 reads, five times.
HandMade iterations() {
  HandMade made(2);
  for (int i = 0; i < 5; i++) {
    made.on(0).compute(1000).write(7).interval({{7, 100}}).barrier().barrier();
    made.on(1).barrier().read(7).compute(1000).barrier();
  }
  return made;
}

TEST(SimulationTest, ReplayBarriersMissOnce) {
  const Prediction plain = predicted(iterations(), simple_settings());
  EXPECT_EQ(plain.misses, 5u);
  EXPECT_EQ(plain.messages[3], 10u);
  const Prediction replayed =
      predicted(iterations(), simple_settings(Protocol::kLrc, Tapes::kReplay));
  EXPECT_EQ(replayed.misses, 1u);
  EXPECT_EQ(replayed.messages[3], 2u);
  EXPECT_EQ(replayed.messages[2], 4u);
  EXPECT_EQ(replayed.updates, 4u);
  EXPECT_EQ(replayed.used, 4u);
  EXPECT_LT(replayed.time, plain.time);
}

// A push takes longer than the barrier: the root waits for it while node 1 arrives at the next one
// already.
TEST(SimulationTest, NobodyLeavesABarrierBeforeHeHasWhatWasSentToHim) {
  HandMade made(2);
  for (int i = 0; i < 5; i++) {
    made.on(0).barrier().read(7).barrier();
    made.on(1).write(7).interval({{7, 4000}}).barrier().barrier();
  }
  Settings settings = simple_settings(Protocol::kLrc, Tapes::kReplay);
  settings.network.bandwidth = 0.01;
  const Prediction result = predicted(made, settings);
  EXPECT_EQ(result.misses, 1u);
  EXPECT_EQ(result.messages[1], 20u);
  EXPECT_GT(result.barrier_wait, 4u * 400'000);
}

TEST(SimulationTest, AutoLocksBringWhatWasAccessedBefore) {
  HandMade made(2);
  for (uint64_t i = 0; i < 4; i++) {
    made.on(0).compute(i == 0 ? 0 : 200'000).acquire(0).write(7).interval({{7, 100}}).release(0);
    made.on(1)
        .compute(i == 0 ? 100'000 : 200'000)
        .acquire(0)
        .write(7)
        .interval({{7, 100}})
        .release(0);
  }
  EXPECT_EQ(predicted(made, simple_settings()).misses, 7u);
  const Prediction replayed = predicted(made, simple_settings(Protocol::kLrc, Tapes::kReplay));
  EXPECT_EQ(replayed.misses, 1u) << "the first at node 1; node 0 has a copy from its first time";
  EXPECT_EQ(replayed.messages[3], 2u);
  EXPECT_EQ(replayed.used, replayed.updates);
}

TEST(SimulationTest, RecordedPushesAreSentWhereAskedFor) {
  HandMade made(3);
  made.on(0)
      .write(7)
      .write(8)
      .interval({{7, 100}, {8, 100}})
      .put(EventKind::kPush, kToAll, 0, 300, 0, {{7, 0}, {8, 0}})
      .barrier();
  made.on(1).barrier().read(7).read(8);
  made.on(2).barrier().read(7);
  EXPECT_EQ(predicted(made, simple_settings()).misses, 3u);
  const Prediction pushed = predicted(made, simple_settings(Protocol::kLrc, Tapes::kRecorded));
  EXPECT_EQ(pushed.misses, 0u);
  EXPECT_EQ(pushed.messages[2], 2u);
  EXPECT_EQ(pushed.updates, 4u);
  EXPECT_EQ(pushed.used, 3u);
}

TEST(SimulationTest, WhatGoesWithTheBarrierTakesNoMessage) {
  HandMade made(3);
  made.on(0)
      .write(7)
      .write(8)
      .interval({{7, 100}, {8, 100}})
      .put(EventKind::kPush, kWithBarrier, 0, 300, 0, {{7, 0}, {8, 0}})
      .barrier();
  made.on(1).barrier().read(7).read(8);
  made.on(2).barrier().read(7);
  const Prediction plain = predicted(made, simple_settings());
  const Prediction brought = predicted(made, simple_settings(Protocol::kLrc, Tapes::kRecorded));
  EXPECT_EQ(brought.misses, 0u);
  EXPECT_EQ(brought.messages[1], plain.messages[1]);
  EXPECT_EQ(brought.messages[2] + brought.messages[3], 0u);
  EXPECT_EQ(brought.updates, 4u);
  EXPECT_EQ(brought.used, 3u);
}

TEST(SimulationTest, WhatALockBroughtWhenRecordedComesWithIt) {
  HandMade made(2);
  made.on(0).acquire(2).write(7).interval({{7, 100}}).release(2);
  made.on(1).compute(100'000).acquire(2, {{7, 0}}).read(7).release(2);
  EXPECT_EQ(predicted(made, simple_settings()).misses, 1u);
  const Prediction result = predicted(made, simple_settings(Protocol::kLrc, Tapes::kRecorded));
  EXPECT_EQ(result.misses, 0u);
  EXPECT_EQ(result.updates, 1u);
  EXPECT_EQ(result.all_messages(), 2u);
}

TEST(SimulationTest, WhatATapeBroughtIsAskedForAgainWhereItIsNotAll) {
  HandMade made(3);
  for (uint32_t node = 0; node < 2; node++) made.on(node).write(7).interval({{7, 100}});
  made.on(0).put(EventKind::kPush, 2, 0, 100, 0, {{7, 100}});
  for (uint32_t node = 0; node < 3; node++) made.on(node).barrier();
  made.on(2).read(7);
  const Prediction result = predicted(made, simple_settings(Protocol::kLrc, Tapes::kRecorded));
  EXPECT_EQ(result.messages[2], 1u);
  EXPECT_EQ(result.messages[3], 4u);
}

}  // namespace
}  // namespace weir::predict
