#include "dsm/predict/simulation.h"

#include <gtest/gtest.h>

#include "dsm/predict/test_recording.h"

namespace weir::predict {
namespace {

// What a barrier of two nodes sends, besides notices and 8 bytes for each node that has arrived so
// far.
constexpr uint64_t kUp = 16 + 40 + 4 + 4 * 2, kDown = 16 + 24 + 4 + 4 * 2;

TEST(SimulationTest, ABarrierWaitsForTheLast) {
  HandMade made(2);
  made.on(0).compute(1000).barrier();
  made.on(1).compute(3000).barrier();
  const Prediction result = predicted(made, simple_settings());
  // Node 1 sends (100), it is there (1000), node 0's server takes it (10), sends (100), it is there
  // (1000), the thread takes it (20).
  EXPECT_EQ(result.time, 3000u + 1110 + 1120);
  EXPECT_EQ(result.messages[1], 2u);
  EXPECT_EQ(result.all_messages(), 2u);
  EXPECT_EQ(result.bytes, kUp + 8 + kDown + 16);
  EXPECT_EQ(result.compute, 4000u);
}

TEST(SimulationTest, ABarrierTakesTwoMessagesForEachNodeButOneWhateverTheTree) {
  for (const uint32_t arity : {1u, 2u, 4u, 100u}) {
    HandMade made(13);
    for (uint32_t node = 0; node < 13; node++) made.on(node).barrier().barrier();
    Settings settings = simple_settings();
    settings.arity = arity;
    EXPECT_EQ(predicted(made, settings).messages[1], 2u * 2 * 12) << arity;
  }
}

TEST(SimulationTest, AReaderOfAnothersWriteMisses) {
  HandMade made(2);
  made.on(0).write(7).interval({{7, 100}}).barrier();
  made.on(1).read(7).barrier().read(7).read(7);
  const Prediction result = predicted(made, simple_settings());
  EXPECT_EQ(result.misses, 1u);
  EXPECT_EQ(result.messages[3], 2u);
  // A request with what the copy has (4 + 2 * 4), and whom it is for (7 + 6); a reply (9) with one
  // diff (28).
  const uint64_t data = 16 + 12 + 13 + 16 + 9 + 28 + 100;
  const uint64_t notice = 10 + 2 * 4 + 4 + 8;
  EXPECT_EQ(result.bytes, data + kUp + 8 + kDown + 16 + notice);
  // The barrier as above; node 1 arrives after its fault of 5, and has two more later.
  EXPECT_EQ(result.time, 5u + 1110 + 1120 + 5 + 1110 + 1120 + 5);
  EXPECT_EQ(result.miss_wait, 1110u + 1120);
}

TEST(SimulationTest, WhatIsFetchedAheadIsNoMiss) {
  HandMade made(2);
  made.on(0).write(7).write(8).interval({{7, 100}, {8, 100}}).barrier();
  made.on(1).barrier().put(EventKind::kTouch, 0, 0, 0, 0, {{7, 0}, {8, 0}}).read(7).read(8);
  const Prediction result = predicted(made, simple_settings());
  EXPECT_EQ(result.misses, 0u);
  EXPECT_EQ(result.messages[3], 2u);
}

TEST(SimulationTest, WhatNobodyToldIsNoMiss) {
  HandMade made(2);
  made.on(0).write(7).interval({{7, 100}});
  made.on(1).compute(10000).read(7);
  EXPECT_EQ(predicted(made, simple_settings()).misses, 0u);
}

// Node 0, then 1, then 2 write the same unit under a lock, which node 0 manages.
HandMade chain() {
  HandMade made(3);
  for (uint32_t node = 0; node < 3; node++)
    made.on(node).compute(100'000 * node).acquire(3).write(7).interval({{7, 100}}).release(3);
  return made;
}

TEST(SimulationTest, ALockTakesNoMessageAtHomeTwoFromTheManagerThreeFromAThird) {
  const Prediction result = predicted(chain(), simple_settings());
  EXPECT_EQ(result.messages[0], 0u + 2 + 3);
}

TEST(SimulationTest, OnlyTheLastWriterIsAsked) {
  const Prediction result = predicted(chain(), simple_settings());
  EXPECT_EQ(result.misses, 2u);
  EXPECT_EQ(result.messages[3], 4u);
}

TEST(SimulationTest, WritersThatDidNotKnowOfEachOtherAreAskedAllAtOnce) {
  HandMade made(3);
  made.on(0).write(7).interval({{7, 10}}).barrier();
  made.on(1).write(7).interval({{7, 10}}).barrier();
  made.on(2).barrier().read(7);
  const Prediction result = predicted(made, simple_settings());
  EXPECT_EQ(result.misses, 1u);
  EXPECT_EQ(result.messages[3], 4u);
  EXPECT_EQ(result.miss_wait, 1110u + 1120 + 100) << "the second request is sent after the first";
}

TEST(SimulationTest, LongHistoriesComeAsAWholeUnit) {
  HandMade made(2);
  made.on(0).acquire(0).write(7).interval({{7, 4000}}).release(0);
  made.on(1).compute(100'000).acquire(0).write(7).interval({{7, 3000}}).release(0);
  made.on(0).compute(300'000).acquire(0).read(7).release(0);
  const Prediction without = predicted(made, simple_settings());
  EXPECT_EQ(without.misses, 2u);
  HandMade three(3);
  three.recording = made.recording;
  three.recording.nodes.resize(3);
  three.on(2).compute(900'000).acquire(0).read(7).release(0);
  const Prediction with = predicted(three, simple_settings());
  EXPECT_EQ(with.misses, 3u);
  EXPECT_LT(with.bytes - without.bytes, 4096u + 500) << "the diffs would be 7,000";
}

TEST(SimulationTest, HomesGetDiffsAndGiveWholeUnits) {
  HandMade made(3);
  made.home(0, 10, 0);
  made.on(0).barrier().read(7);
  made.on(1).write(7).write(8).interval({{7, 100}, {8, 50}}).barrier();
  made.on(2).barrier().read(7);
  const Prediction result = predicted(made, simple_settings(Protocol::kHlrc));
  EXPECT_EQ(result.misses, 1u) << "the home has them";
  EXPECT_EQ(result.messages[3], 1u + 2) << "both diffs go home together";
}

TEST(SimulationTest, OneWriterAtATime) {
  HandMade made(3);
  made.home(0, 10, 0);
  made.on(0).write(7).barrier().barrier();
  made.on(1).barrier().write(7).barrier();
  made.on(2).barrier().barrier().read(7);
  const Prediction result = predicted(made, simple_settings(Protocol::kSc));
  EXPECT_EQ(result.misses, 2u);
  // Node 1: request, the unit, done. Node 2: request, taken from node 1, its answer, the unit,
  // done.
  EXPECT_EQ(result.messages[3], 3u + 5);
}

TEST(SimulationTest, AWriteTakesAllCopiesAway) {
  HandMade made(4);
  made.home(0, 10, 0);
  made.on(0).barrier().barrier().barrier();
  made.on(1).read(7).barrier().barrier().read(7).barrier();
  made.on(2).read(7).barrier().barrier().barrier();
  made.on(3).barrier().write(7).barrier().barrier();
  const Prediction result = predicted(made, simple_settings(Protocol::kSc));
  EXPECT_EQ(result.misses, 4u);
  // Reads at the home: 3 each. The write: request, taken from two, their answers, the unit, done.
  // The last read: request, taken from one, its answer, the unit, done.
  EXPECT_EQ(result.messages[3], 2u * 3 + 7 + 5);
}

// The lock's home would have it long before node 1 asks; in the run it had it after node 1.
HandMade late_home() {
  HandMade made(2);
  made.on(0).give(0, 1).acquire(0).read(7).release(0).barrier();
  made.on(1)
      .compute(100'000)
      .acquire(0)
      .write(7)
      .release(0)
      .put(EventKind::kInterval, 1, 0, 0, 0, {{7, 100}})
      .give(0, 0)
      .barrier();
  return made;
}

TEST(SimulationTest, LocksGoFromNodeToNodeAsRecorded) {
  Settings settings = simple_settings();
  const Prediction by_time = predicted(late_home(), settings);
  EXPECT_EQ(by_time.misses, 0u);
  EXPECT_EQ(by_time.messages[0], 2u) << "node 1 asks, and is given it";
  EXPECT_FALSE(by_time.recorded_locks);
  settings.recorded_locks = true;
  const Prediction as_recorded = predicted(late_home(), settings);
  EXPECT_EQ(as_recorded.misses, 1u);
  EXPECT_EQ(as_recorded.messages[0], 4u);
  EXPECT_TRUE(as_recorded.recorded_locks);
  EXPECT_GT(as_recorded.lock_wait, 100'000u);
}

// What a node learns and writes after a lock has left it does not go with the lock, though the
// model has the request only later.
TEST(SimulationTest, ALockThatIsAskedForLateBringsWhatWasKnownWhenItLeft) {
  HandMade made(2);
  made.on(0)
      .acquire(0)
      .write(7)
      .release(0)
      .put(EventKind::kInterval, 1, 0, 0, 0, {{7, 100}})
      .give(0, 1)
      .write(8)
      .interval({{8, 100}})
      .compute(1)
      .read(9)
      .barrier();
  made.on(1).compute(100'000).acquire(0).read(7).read(8).release(0).barrier();
  Settings settings = simple_settings();
  settings.recorded_locks = true;
  EXPECT_EQ(predicted(made, settings).misses, 1u);
}

TEST(SimulationTest, WhereNoOrderOfLocksIsKnownTheModelHasItsOwn) {
  Settings settings = simple_settings();
  settings.recorded_locks = true;
  HandMade lost = late_home();
  lost.on(1).give(0, 0);  // what it has not got again
  EXPECT_FALSE(workload_of(lost.recording).givers);
  EXPECT_EQ(predicted(lost, settings).misses, 0u);
  HandMade shared = late_home();
  shared.on(1, 1).compute(1);
  shared.recording.threads = 2;
  EXPECT_FALSE(workload_of(shared.recording).givers);
}

// Node 0 writes again after somebody has asked, or before.
TEST(SimulationTest, DiffsThatWereMadeAreSentOneByOne) {
  const auto bytes = [](bool asked_between) {
    HandMade made(3);
    made.on(0)
        .write(7)
        .interval({{7, 100}})
        .barrier()
        .barrier()
        .write(7)
        .interval({{7, 100}})
        .barrier();
    made.on(1).barrier();
    if (asked_between) made.read(7);
    made.barrier().barrier();
    if (!asked_between) made.read(7);
    made.on(2).barrier().barrier().barrier().read(7);
    return predicted(made, simple_settings()).bytes;
  };
  EXPECT_EQ(bytes(true), bytes(false) + 28 + 100);
}

TEST(SimulationTest, WhatBeginsADiffOfItsOwnWhenRecordedDoesSo) {
  const auto bytes = [](bool apart) {
    HandMade made(2);
    made.on(0).write(7).interval({{7, 100}});
    if (apart) made.put(EventKind::kDiff, 7, 0, 100);
    made.write(7).interval({{7, 60}}).barrier();
    made.on(1).barrier().read(7);
    return predicted(made, simple_settings()).bytes;
  };
  EXPECT_EQ(bytes(true), bytes(false) + 28 + 60 + 30) << "a diff, and an interval of its own";
}

TEST(SimulationTest, AnAnswerHoldsWhatTheOpenIntervalWroteWhereItDidWhenRecorded) {
  const auto misses = [](bool told) {
    HandMade made(2);
    made.on(0)
        .write(7)
        .interval({{7, 100}})
        .barrier()
        .write(7)
        .on(0, told ? kServerThread : 0)
        .interval({{7, 100}})
        .on(0)
        .compute(100'000)
        .barrier();
    made.on(1).barrier().compute(10'000).read(7).barrier().read(7);
    return predicted(made, simple_settings()).misses;
  };
  EXPECT_EQ(misses(true), 1u);
  EXPECT_EQ(misses(false), 2u);
}

TEST(SimulationTest, WhatWasBeforeTheMarkIsNotCounted) {
  HandMade made(2);
  made.on(0)
      .compute(5000)
      .write(7)
      .interval({{7, 10}})
      .barrier()
      .barrier()
      .put(EventKind::kMark)
      .barrier();
  made.on(1).barrier().read(7).barrier().put(EventKind::kMark).barrier();
  const Prediction result = predicted(made, simple_settings());
  EXPECT_EQ(result.misses, 0u);
  EXPECT_EQ(result.all_messages(), 2u);
  EXPECT_LT(result.time, 6000u);
}

TEST(SimulationTest, WhatComesAfterTheStopIsNotCounted) {
  HandMade made(2);
  for (uint32_t node = 0; node < 2; node++)
    made.on(node).compute(1000).barrier().put(EventKind::kStop).compute(100'000).barrier();
  const Prediction result = predicted(made, simple_settings());
  EXPECT_EQ(result.messages[1], 2u);
  EXPECT_EQ(result.time, 1000u + 1110 + 1120);
}

TEST(SimulationTest, ThreadsShareCores) {
  HandMade made(2);
  made.on(0).compute(1000).barrier();
  made.on(1).compute(3000).barrier();
  Settings settings = simple_settings();
  settings.network = {"none", "", 0, 1e9, 0, 0, 0, 0};
  EXPECT_EQ(predicted(made, settings).time, 3000u);
  settings.cores = 2;
  EXPECT_EQ(predicted(made, settings).time, 3000u);
  settings.cores = 1;
  EXPECT_EQ(predicted(made, settings).time, 4000u);
  settings.speed = 2;
  EXPECT_EQ(predicted(made, settings).time, 2000u);
}

TEST(SimulationTest, MessagesWaitForEachOtherOnALink) {
  HandMade made(3);  // nodes 1 and 2 fetch a large unit from node 0 at the same time
  made.on(0).write(7).interval({{7, 4000}}).barrier();
  made.on(1).barrier().read(7);
  made.on(2).barrier().read(7);
  Settings settings = simple_settings();
  settings.network.bandwidth = 0.1;  // 40 us for the unit
  const Prediction free = predicted(made, settings);
  settings.links = true;
  const Prediction busy = predicted(made, settings);
  EXPECT_GT(busy.time, free.time + 35'000);
  EXPECT_EQ(busy.all_messages(), free.all_messages());
}

TEST(SimulationTest, ThreadsOfANodeShareItsCopyAndItsLocks) {
  HandMade made(2);
  made.on(0).write(7).interval({{7, 100}}).barrier();
  made.on(1).put(EventKind::kFork, 0, 2);
  for (uint32_t thread = 0; thread < 2; thread++) {
    made.on(1, thread);
    if (thread == 1) made.put(EventKind::kBegin);
    made.barrier().read(7).acquire(1).compute(500).release(1).put(EventKind::kFinish);
  }
  made.on(1).put(EventKind::kJoin).read(7);
  const Prediction result = predicted(made, simple_settings());
  EXPECT_EQ(result.misses, 1u);
  EXPECT_EQ(result.messages[0], 0u);
  EXPECT_EQ(result.messages[1], 2u);
}

TEST(SimulationTest, ConditionsAndSemaphoresOrderWhatTheyShould) {
  for (const uint64_t late : {0, 100'000}) {  // who waits comes first, or later
    HandMade made(3);
    made.on(0)
        .compute(50'000)
        .write(7)
        .interval({{7, 10}})
        .acquire(0)
        .put(EventKind::kSignal, 5)
        .release(0)
        .put(EventKind::kPost, 2);
    made.on(1)
        .compute(late)
        .acquire(0)
        .put(EventKind::kWait, 5, 0, 0, 0)
        .put(EventKind::kWoken, 5, 0, 0, 0)
        .read(7)
        .release(0);
    made.on(2)
        .compute(late)
        .put(EventKind::kSemaphoreWait, 2)
        .put(EventKind::kSemaphoreGot, 2)
        .read(7);
    const Prediction result = predicted(made, simple_settings());
    EXPECT_EQ(result.misses, 2u) << late;
    EXPECT_EQ(result.unsignalled, 0u) << late;
  }
}

TEST(SimulationTest, ForgottenWaitersGoOnAndDeadlocksAreReported) {
  HandMade forgotten(1);
  forgotten.on(0).acquire(0).put(EventKind::kWait, 5, 0, 0, 0).release(0);
  EXPECT_EQ(predicted(forgotten, simple_settings()).unsignalled, 1u);
  HandMade stuck(2);
  stuck.on(0).barrier();
  try {
    predicted(stuck, simple_settings());
    FAIL();
  } catch (const Stuck& error) {
    EXPECT_STREQ(
        error.what(),
        "thread 0 of node 0 waits for ever for a barrier (0): the recording does not fit together");
  }
}

}  // namespace
}  // namespace weir::predict
