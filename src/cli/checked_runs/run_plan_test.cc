#include "cli/checked_runs/run_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace weir::cli {
namespace {

TEST(RunPlan, TheFirstIsAsTheUserHasIt) {
  EXPECT_EQ(plan_of(1, {}, true), RunPlan{});
  const RunPlan own{7, true};
  EXPECT_EQ(plan_of(1, own, false), own);
  EXPECT_EQ(options_of({}), "");
}

TEST(RunPlan, EachOtherHasASeedOfItsOwn) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{5}, UINT64_MAX - 3}) {
    std::set<std::string> seen;
    for (unsigned number = 1; number <= 10; number++) {
      const RunPlan plan = plan_of(number, {first, false}, false);
      EXPECT_EQ(plan.delay == 0, number == 1 && first == 0);
      EXPECT_FALSE(plan.is_exhaustive);
      seen.insert(options_of(plan));
    }
    EXPECT_GE(seen.size(), 9u);
  }
}

TEST(RunPlan, SomeLookAtAllIfThatIsMore) {
  unsigned exhaustive = 0;
  for (unsigned number = 1; number <= 9; number++)
    exhaustive += plan_of(number, {}, true).is_exhaustive;
  EXPECT_EQ(exhaustive, 3u);
  EXPECT_EQ(options_of(plan_of(3, {}, true)), "--delay 2 --exhaustive");
  EXPECT_TRUE(plan_of(2, {0, true}, false).is_exhaustive);
}

}  // namespace
}  // namespace weir::cli
