#include "cli/hunt/run/judge.h"

#include <gtest/gtest.h>

#include <csignal>

namespace weir::cli::hunt {
namespace {

using Kind = Finding::Kind;

Outcome exits(int status, const std::string& err = "") {
  Outcome run;
  run.log.has_begun = true;
  run.log.end = ScheduleLog::End::kExit;
  run.status = run.log.status = status;
  run.err = err;
  return run;
}

TEST(Judge, AnotherStatusThanTheExpectedOneFails) {
  const Judge usual({});
  EXPECT_FALSE(usual.failure(exits(0)));
  EXPECT_EQ(usual.failure(exits(3))->kind, Kind::kExit);
  JudgeOptions options;
  options.expected_status = 3;
  const Judge other(options);
  EXPECT_FALSE(other.failure(exits(3)));
  EXPECT_TRUE(other.failure(exits(0)));
}

TEST(Judge, TheSameCrashAtOtherAddressesIsTheSame) {
  const Judge judge({});
  Outcome first = exits(0, "free(): double free 0x7f1200 in 12345\n");
  first.was_killed = true;
  first.status = SIGABRT;
  Outcome second = first;
  second.err = "free(): double free 0x7f1300 in 23456\n";
  EXPECT_EQ(judge.failure(first)->signature, judge.failure(second)->signature);
  EXPECT_EQ(judge.failure(first)->what, "killed by SIGABRT");
  second.status = SIGSEGV;
  EXPECT_NE(judge.failure(first)->signature, judge.failure(second)->signature);
  second.status = SIGABRT;
  second.err = "a.c:12: f: Assertion `x == 1' failed.\nmore\n";
  EXPECT_NE(judge.failure(first)->signature, judge.failure(second)->signature);
  EXPECT_NE(judge.failure(second)->said.find("x == 1"), std::string::npos);
}

TEST(Judge, ASanitizersReportFailsWhateverTheStatus) {
  const Judge judge({});
  const auto asan = judge.failure(exits(1,
                                        "==77==ERROR: AddressSanitizer: heap-use-after-free on "
                                        "address 0x603000000010 at pc 0x55\n"));
  ASSERT_TRUE(asan);
  EXPECT_EQ(asan->kind, Kind::kSanitizer);
  EXPECT_EQ(asan->signature, "sanitizer: ERROR: AddressSanitizer: heap-use-after-free");
  EXPECT_EQ(judge.failure(exits(0, "a.c:3:5: runtime error: shift exponent 40\n"))->kind,
            Kind::kSanitizer);
}

TEST(Judge, DeadlocksByThoseThatWait) {
  const Judge judge({});
  Outcome run = exits(66);
  run.log.end = ScheduleLog::End::kDeadlock;
  run.log.waits.resize(2);
  run.log.waits[0].task = 1;
  run.log.waits[0].what = "mutex";
  run.log.waits[1].task = 2;
  run.log.waits[1].what = "mutex";
  Outcome other = run;
  std::swap(other.log.waits[0], other.log.waits[1]);
  EXPECT_EQ(judge.failure(run)->kind, Kind::kDeadlock);
  EXPECT_EQ(judge.failure(run)->signature, judge.failure(other)->signature);
}

TEST(Judge, OutputThatMostRunsDoNotHave) {
  JudgeOptions options;
  options.compares_output = true;
  Judge judge(options);
  Outcome usual = exits(0), other = exits(0);
  usual.out = "one\ntwo\n";
  other.out = "one\nthree\n";
  EXPECT_FALSE(judge.judge(other));  // nothing is usual yet
  for (int i = 0; i < 20; i++) EXPECT_FALSE(judge.judge(usual));
  const auto found = judge.judge(other);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Kind::kOutput);
  EXPECT_EQ(found->said, "three");
  EXPECT_NE(found->what.find("line 2"), std::string::npos);
  EXPECT_TRUE(judge.judge_again(other));
  EXPECT_FALSE(judge.judge_again(usual));
}

TEST(Judge, IfNoOutputIsThatOfMostRunsItIsTheFirstOnes) {
  JudgeOptions options;
  options.compares_output = true;
  Judge judge(options);
  Outcome first = exits(0), other = exits(0), third = exits(0);
  first.out = "1\n";
  other.out = "2\n";
  third.out = "3\n";
  for (int i = 0; i < 4; i++) {
    for (const Outcome* run : {&first, &other, &third}) EXPECT_FALSE(judge.judge(*run));
  }
  EXPECT_FALSE(judge.judge_again(first));
  const auto found = judge.judge(other);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "other output than the default schedule has, from line 1 on");
}

TEST(Judge, AnOracleReadsTheOutputAndDecides) {
  JudgeOptions options;
  options.oracle = "test \"$(cat)\" = right && test \"$WEIR_HUNT_STATUS\" = 4";
  const Judge judge(options);
  Outcome run = exits(4);
  run.out = "right\n";
  EXPECT_FALSE(judge.failure(run));
  run.out = "wrong\n";
  EXPECT_EQ(judge.failure(run)->kind, Kind::kOracle);
  options.oracle = "/no/such/command";
  EXPECT_ANY_THROW(Judge(options).failure(run));
}

TEST(WithoutNumbers, KeepsWhatIsTheSameEachTime) {
  EXPECT_EQ(without_numbers("at 0x7fff12 pid 12345, line 120 of v2a"),
            "at # pid #, line 120 of v2a");
  EXPECT_EQ(without_numbers(""), "");
}

}  // namespace
}  // namespace weir::cli::hunt
