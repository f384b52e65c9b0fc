#include "check/core/policy.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::view::checked {
namespace {

constexpr uint32_t kTasks = 4;
using Thing = Object<kTasks>;
constexpr Policy kPolicies[] = {Policy::kUntouched, Policy::kPrivate,      Policy::kReadShared,
                                Policy::kRacy,      Policy::kInaccessible, Policy::kStickyRead,
                                Policy::kLocked};
constexpr Change kChanges[] = {Change::kAcquireWrite, Change::kReleaseWrite, Change::kAcquireRead,
                               Change::kReleaseRead,  Change::kToLocked,     Change::kToStickyRead,
                               Change::kToRacy};

struct CheckedPolicyTest : ::testing::Test {
  CheckedPolicyTest() {
    for (TaskId i = 0; i < kTasks; i++) now[i].step(i);
  }
  Thing::Actor actor(TaskId task, bool is_alone = false) {
    return {task, now[task], is_alone, &readers};
  }
  // What one task did is known to the other.
  void order(TaskId from, TaskId to) {
    now[to].join(now[from]);
    now[from].step(from);
  }
  // An object under that policy, which task 0 has brought about.
  Thing make(Policy policy) {
    Thing thing(policy == Policy::kUntouched ? Policy::kUntouched : Policy::kInaccessible);
    if (policy == Policy::kPrivate) thing.change(Change::kAcquireWrite, actor(0));
    if (policy == Policy::kReadShared) thing.change(Change::kAcquireRead, actor(0));
    if (policy == Policy::kRacy) thing.change(Change::kToRacy, actor(0));
    if (policy == Policy::kStickyRead) thing.change(Change::kToStickyRead, actor(0, true));
    if (policy == Policy::kLocked) thing.change(Change::kToLocked, actor(0), 7);
    EXPECT_EQ(thing.policy(), policy);
    order(0, 1);
    return thing;
  }

  VectorClock<kTasks> now[kTasks];
  Thing::Readers readers;
};

// Each policy, each change, by the task that holds the object and by another one that is ordered
// after it.
TEST_F(CheckedPolicyTest, EveryChangeFromEveryPolicy) {
  constexpr Fault N = Fault::kNone, O = Fault::kHeldByOther, A = Fault::kHeldAlready,
                  H = Fault::kNotHeld, F = Fault::kFixed, S = Fault::kNotAlone;
  constexpr Fault expected[2][7][7] = {{
                                           // acquire write, release write, acquire read, release
                                           // read, to locked, to sticky-read, to racy
                                           {N, H, N, H, N, S, N},  // untouched
                                           {A, N, N, H, N, S, F},  // private
                                           {N, H, A, N, N, S, F},  // read-shared
                                           {F, H, F, H, F, S, F},  // racy
                                           {N, H, N, H, N, S, N},  // inaccessible
                                           {F, H, F, H, F, S, F},  // sticky-read
                                           {N, H, N, H, N, S, F},  // locked
                                       },
                                       {
                                           {N, H, N, H, N, S, N},
                                           {O, H, O, H, O, S, F},
                                           {O, H, N, H, O, S, F},
                                           {F, H, F, H, F, S, F},
                                           {N, H, N, H, N, S, N},
                                           {F, H, F, H, F, S, F},
                                           {N, H, N, H, N, S, F},
                                       }};
  for (TaskId task = 0; task < 2; task++) {
    for (size_t p = 0; p < 7; p++) {
      for (size_t c = 0; c < 7; c++) {
        Thing thing = make(kPolicies[p]);
        const Fault fault = thing.change(kChanges[c], actor(task), 9).fault;
        EXPECT_EQ(fault, expected[task][p][c])
            << "task " << task << ", policy " << p << ", change " << c;
        if (fault != Fault::kNone) { EXPECT_EQ(thing.policy(), kPolicies[p]); }
      }
    }
  }
}

TEST_F(CheckedPolicyTest, StickyReadIsForWhoIsAloneAndForEver) {
  for (Policy policy : kPolicies) {
    Thing thing = make(policy);
    const bool fixed = policy == Policy::kRacy || policy == Policy::kStickyRead;
    EXPECT_EQ(thing.change(Change::kToStickyRead, actor(0, true)).fault,
              fixed ? Fault::kFixed : Fault::kNone);
  }
  Thing thing = make(Policy::kStickyRead);
  EXPECT_EQ(thing.rights(3, false, &readers), Rights::kRead);
  EXPECT_EQ(thing.touch(actor(3), true, false).fault, Fault::kForbidden);
  EXPECT_TRUE(thing.touch(actor(3), false, false).legal());
}

// Figure 1 of the paper: each task keeps to the rules, and nothing orders the two.
TEST_F(CheckedPolicyTest, AHandOverWithoutOrderIsARace) {
  Thing thing(Policy::kInaccessible);
  EXPECT_TRUE(thing.change(Change::kAcquireWrite, actor(0)).legal());
  EXPECT_TRUE(thing.change(Change::kReleaseWrite, actor(0)).legal());
  const Verdict verdict = thing.change(Change::kAcquireWrite, actor(1));
  EXPECT_EQ(verdict.fault, Fault::kUnordered);
  EXPECT_EQ(verdict.other, now[0].epoch(0));
  EXPECT_EQ(thing.owner(), 1u);
  EXPECT_TRUE(thing.change(Change::kReleaseWrite, actor(1)).legal());
  order(1, 2);
  EXPECT_TRUE(thing.change(Change::kAcquireWrite, actor(2)).legal());
}

TEST_F(CheckedPolicyTest, ReadersNeedNoOrderAndAWriterAfterThemDoes) {
  Thing thing(Policy::kInaccessible);
  EXPECT_TRUE(thing.change(Change::kAcquireRead, actor(0)).legal());
  EXPECT_TRUE(thing.change(Change::kAcquireRead, actor(1)).legal());
  EXPECT_EQ(thing.rights(0, false, &readers), Rights::kRead);
  EXPECT_EQ(thing.rights(2, false, &readers), Rights::kNone);
  EXPECT_EQ(thing.touch(actor(2), false, false).fault,
            Fault::kForbidden);  // the gap that the paper's enforcer has
  EXPECT_EQ(thing.touch(actor(0), true, false).fault, Fault::kForbidden);
  EXPECT_TRUE(thing.change(Change::kReleaseRead, actor(0)).legal());
  EXPECT_TRUE(thing.change(Change::kReleaseRead, actor(1)).legal());
  EXPECT_EQ(thing.policy(), Policy::kInaccessible);
  order(0, 2);
  EXPECT_EQ(thing.change(Change::kAcquireWrite, actor(2)).other.task, 1u);
}

TEST_F(CheckedPolicyTest, TheOnlyReaderMayWriteAndItsOwnerMayRead) {
  Thing thing(Policy::kPrivate, 1);
  EXPECT_EQ(thing.change(Change::kAcquireRead, actor(0)).fault, Fault::kHeldByOther);
  EXPECT_TRUE(thing.change(Change::kAcquireRead, actor(1)).legal());
  EXPECT_EQ(thing.rights(1, false, &readers), Rights::kRead);
  EXPECT_TRUE(thing.change(Change::kAcquireWrite, actor(1)).legal());
  EXPECT_EQ(thing.rights(1, false, &readers), Rights::kWrite);
}

TEST_F(CheckedPolicyTest, WhatItsOwnerWroteIsOrderedBeforeOtherReaders) {
  for (const bool allocated : {true, false}) {
    Thing thing(allocated ? Policy::kPrivate : Policy::kInaccessible, allocated ? 0 : kNoTask);
    if (!allocated) thing.change(Change::kAcquireWrite, actor(0));
    order(0, 1);  // task 0 writes after this
    EXPECT_TRUE(thing.change(Change::kAcquireRead, actor(0)).legal());
    const Verdict verdict = thing.change(Change::kAcquireRead, actor(1));
    EXPECT_EQ(verdict.fault, Fault::kUnordered);
    EXPECT_EQ(verdict.other, now[0].epoch(0));
    order(0, 2);
    EXPECT_TRUE(thing.change(Change::kAcquireRead, actor(2)).legal());
  }
}

TEST_F(CheckedPolicyTest, UntouchedBelongsToItsFirstToucher) {
  Thing thing(Policy::kUntouched);
  EXPECT_TRUE(thing.touch(actor(2), false, false).legal());
  EXPECT_EQ(thing.owner(), 2u);
  const Verdict verdict = thing.touch(actor(1), false, false);
  EXPECT_EQ(verdict.fault, Fault::kForbidden);
  EXPECT_EQ(verdict.other, now[2].epoch(2));
}

TEST_F(CheckedPolicyTest, ALockedObjectsFirstTouchIsUnderTheLockAndOrdered) {
  Thing thing(Policy::kInaccessible);
  EXPECT_TRUE(thing.change(Change::kToLocked, actor(0), 7).legal());
  EXPECT_EQ(thing.lock(), 7u);
  EXPECT_EQ(thing.rights(0, true, &readers), Rights::kNone);
  EXPECT_EQ(thing.touch(actor(1), true, false).fault, Fault::kLockNotHeld);
  EXPECT_EQ(thing.touch(actor(1), true, true).fault, Fault::kUnordered);
  order(0, 1);
  EXPECT_TRUE(thing.touch(actor(1), true, true).legal());
  EXPECT_EQ(thing.rights(2, true, &readers), Rights::kWrite);
  EXPECT_EQ(thing.rights(2, false, &readers), Rights::kNone);
  EXPECT_EQ(thing.change(Change::kAcquireRead, actor(2)).fault,
            Fault::kUnordered);  // the change from locked is a write
}

// Whatever is done in whatever order: never two tasks of which one may write, of those that hold no
// lock.
TEST_F(CheckedPolicyTest, WhoMayWriteIsTheOnlyOneWhoMayTouch) {
  for (uint32_t seed = 1; seed <= 500; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Thing thing(random() % 2 ? Policy::kUntouched : Policy::kInaccessible);
    for (int i = 0; i < 100; i++) {
      const TaskId task = random() % kTasks;
      if (random() % 4 == 0) thing.touch(actor(task), random() % 2, random() % 2);
      else if (random() % 3 == 0) order(task, random() % kTasks);
      else thing.change(kChanges[random() % 5], actor(task), 7);
      uint32_t writers = 0, others = 0;
      for (TaskId other = 0; other < kTasks; other++) {
        const Rights rights = thing.rights(other, false, &readers);
        writers += rights == Rights::kWrite;
        others += rights == Rights::kRead;
      }
      ASSERT_TRUE(writers == 0 || (writers == 1 && others == 0)) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace weir::view::checked
