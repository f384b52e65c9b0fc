#include "dsm/predict/workload.h"

#include <gtest/gtest.h>

#include "dsm/predict/test_recording.h"

namespace weir::predict {
namespace {

std::vector<OpKind> kinds(const Script& script) {
  std::vector<OpKind> found;
  for (const Op& op : script) found.push_back(op.kind);
  return found;
}

TEST(WorkloadTest, DiffsMadeLaterTellTheSizesOfIntervals) {
  HandMade made(1);
  const auto diff = [&](uint64_t bytes) {
    made.on(0, kServerThread).put(EventKind::kDiff, 7, 0, bytes).on(0);
  };
  made.on(0).interval({{7, 0}}).interval({{7, 0}, {8, 30}});
  diff(120);
  made.interval({{7, 0}});
  diff(60);
  made.interval({{7, 0}, {9, 0}});
  const Workload workload = workload_of(made.recording);
  const Script& script = workload.script(0, 0);
  ASSERT_EQ(script.size(), 4u);
  EXPECT_EQ(workload.lists[script[0].list], (std::vector<UnitBytes>{{7, 120}}));
  EXPECT_EQ(workload.lists[script[1].list], (std::vector<UnitBytes>{{7, 120}, {8, 30}}));
  EXPECT_EQ(workload.lists[script[2].list], (std::vector<UnitBytes>{{7, 60}}));
  EXPECT_EQ(workload.lists[script[3].list], (std::vector<UnitBytes>{{7, 60}, {9, 90}}))
      << "the average of 180 of 8192 bytes";
}

TEST(WorkloadTest, WhatTheServerClosesWasWrittenBeforeTheRelease) {
  HandMade made(1);
  made.on(0).acquire(1).write(7).compute(50).release(1).compute(20).read(9);
  made.on(0, kServerThread).interval({{7, 10}});
  const Workload workload = workload_of(made.recording);
  const Script& script = workload.script(0, 0);
  ASSERT_EQ(kinds(script),
            (std::vector<OpKind>{OpKind::kAcquire, OpKind::kAccess, OpKind::kInterval,
                                 OpKind::kRelease, OpKind::kAccess}));
  EXPECT_EQ(script[3].compute, 50u);
  EXPECT_EQ(script[4].compute, 20u);
}

TEST(WorkloadTest, ALockThatLeavesWhileTheThreadWaitsLeavesBeforeTheWait) {
  HandMade made(2);
  made.on(0).acquire(0).write(7).release(0).compute(30).put(EventKind::kArrive);
  made.on(0, kServerThread).interval({{7, 10}}).give(0, 1);
  made.on(0).put(EventKind::kLeave);
  made.on(1)
      .acquire(0)
      .release(0)
      .put(EventKind::kAcquire, 5)
      .give(0, 0)
      .put(EventKind::kGranted, 5)
      .release(5)
      .barrier();
  const Workload workload = workload_of(made.recording);
  ASSERT_TRUE(workload.givers);
  EXPECT_EQ(workload.givers->at(0)[1], std::vector<uint32_t>{0});
  EXPECT_EQ(workload.givers->at(0)[0], std::vector<uint32_t>{1});
  const Script& first = workload.script(0, 0);
  ASSERT_EQ(kinds(first), (std::vector<OpKind>{OpKind::kAcquire, OpKind::kAccess, OpKind::kInterval,
                                               OpKind::kRelease, OpKind::kGive, OpKind::kArrive}));
  EXPECT_EQ(first[4].compute, 30u);
  EXPECT_EQ(first[5].compute, 0u);
  EXPECT_EQ(kinds(workload.script(1, 0)),
            (std::vector<OpKind>{OpKind::kAcquire, OpKind::kRelease, OpKind::kGive,
                                 OpKind::kAcquire, OpKind::kRelease, OpKind::kArrive}));
}

TEST(WorkloadTest, WhatIsClosedAndPushedAtABarrierIsBeforeIt) {
  HandMade made(1);
  made.on(0)
      .write(7)
      .compute(10)
      .put(EventKind::kArrive)
      .interval({{7, 10}})
      .put(EventKind::kPush, kToAll, 0, 50, 0, {{7, 0}})
      .put(EventKind::kLeave)
      .read(8);
  const Workload workload = workload_of(made.recording);
  const Script& script = workload.script(0, 0);
  EXPECT_EQ(kinds(script), (std::vector<OpKind>{OpKind::kAccess, OpKind::kInterval, OpKind::kPush,
                                                OpKind::kArrive, OpKind::kAccess}));
  EXPECT_EQ(script[1].compute, 0u);
  EXPECT_EQ(script[2].compute, 10u);
}

TEST(WorkloadTest, EachUnitBelongsToTheReleaseAfterItWasWritten) {
  HandMade made(1);
  made.on(0).acquire(1).write(7).release(1).acquire(2).write(8).release(2).acquire(3).release(3);
  made.on(0, kServerThread).interval({{6, 5}, {7, 10}, {8, 20}});
  const Workload workload = workload_of(made.recording);
  const Script& script = workload.script(0, 0);
  ASSERT_EQ(script.size(), 11u);
  EXPECT_EQ(script[3].kind, OpKind::kRelease);
  EXPECT_EQ(workload.lists[script[2].list], (std::vector<UnitBytes>{{7, 10}}));
  EXPECT_EQ(script[7].kind, OpKind::kRelease);
  EXPECT_EQ(workload.lists[script[6].list], (std::vector<UnitBytes>{{8, 20}}));
  EXPECT_EQ(script[10].kind, OpKind::kRelease);
  EXPECT_EQ(workload.lists[script[9].list], (std::vector<UnitBytes>{{6, 5}}))
      << "it was writable all the time";
}

TEST(WorkloadTest, WhatWasWrittenSinceTheReleaseIsNoPartOfIt) {
  HandMade made(1);
  made.on(0).acquire(1).write(7).release(1).acquire(2).write(8);
  made.on(0, kServerThread).interval({{7, 10}, {8, 20}});
  const Workload workload = workload_of(made.recording);
  const Script& script = workload.script(0, 0);
  ASSERT_EQ(
      kinds(script),
      (std::vector<OpKind>{OpKind::kAcquire, OpKind::kAccess, OpKind::kInterval, OpKind::kRelease,
                           OpKind::kAcquire, OpKind::kAccess, OpKind::kInterval}));
  EXPECT_EQ(workload.lists[script[2].list], (std::vector<UnitBytes>{{7, 10}}));
  EXPECT_EQ(workload.lists[script[6].list], (std::vector<UnitBytes>{{8, 20}}));
}

TEST(WorkloadTest, WhatTheServerClosesForADiffStaysWhereItIs) {
  HandMade made(1);
  made.on(0).acquire(1).release(1).write(7);
  made.on(0, kServerThread).interval({{7, 10}});
  EXPECT_EQ(kinds(workload_of(made.recording).script(0, 0)),
            (std::vector<OpKind>{OpKind::kAcquire, OpKind::kRelease, OpKind::kAccess,
                                 OpKind::kInterval}));
}

TEST(WorkloadTest, ComputingBeforeWhatIsLeftOutIsKept) {
  HandMade made(1);
  made.on(0).compute(3).put(EventKind::kFree).compute(4).read(1).compute(5).put(EventKind::kFree);
  const Workload workload = workload_of(made.recording);
  const Script& script = workload.script(0, 0);
  ASSERT_EQ(kinds(script), (std::vector<OpKind>{OpKind::kAccess, OpKind::kNothing}));
  EXPECT_EQ(script[0].compute, 7u);
  EXPECT_EQ(script[1].compute, 5u);
}

TEST(WorkloadTest, Homes) {
  HandMade made(4);
  made.recording.allocations[100] = {100, 8, 4096, 0, 0};
  made.recording.allocations[200] = {200, 8, 4096, 1, 0};
  made.recording.allocations[220] = {220, 32, 16384, 1, 0, 4};
  made.recording.allocations[300] = {300, 8, 4096, 2, 0};
  made.recording.allocations[400] = {400, 8, 65536, 3, 2};
  const Workload workload = workload_of(made.recording);
  EXPECT_EQ(workload.home_of(101), 0u);
  EXPECT_EQ(workload.home_of(107), 3u);
  EXPECT_EQ(workload.home_of(205), 1u);
  EXPECT_EQ(workload.home_of(224), 1u);
  EXPECT_EQ(workload.home_of(300), Workload::kNoHome);
  EXPECT_EQ(workload.home_of(403), 2u);
  EXPECT_EQ(workload.unit_bytes(403), 65536u);
  EXPECT_EQ(workload.unit_bytes(108), 4096u);
  EXPECT_EQ(workload.allocation_of(99), nullptr);
}

}  // namespace
}  // namespace weir::predict
