#include "cli/hunt/search/conflicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weir::cli::hunt {
namespace {

LoggedAccess access(uint32_t task, uint64_t step, bool is_write, uint64_t address) {
  return {{task, 0, step, 0}, is_write, address};
}

TEST(Conflicts, ASwitchLeadsToWhoTouchesTheSameWordLaterAndOneOfThemWrites) {
  ScheduleLog run;
  run.accesses = {access(1, 3, false, 8), access(1, 4, true, 8),  access(2, 9, false, 8),
                  access(2, 10, true, 8), access(3, 4, false, 8), access(1, 1, false, 16),
                  access(2, 2, false, 16)};
  Switches places = Conflicts(run).places();
  std::ranges::sort(places);
  // Word 16 is only read, and so is word 8 by task 3. What 1 has done before 2 comes is done.
  EXPECT_EQ(places, (Switches{{1, 0, 3, 2}, {1, 0, 4, 2}, {1, 0, 4, 3}, {2, 0, 10, 3}}));
}

TEST(Conflicts, OfManyTasksThatDoTheSameTheFirstAndTheLastComeFirst) {
  ScheduleLog run;
  for (uint32_t task = 1; task <= 100; task++) {
    run.functions[task] = task == 100 ? 0x2000 : 0x1000;  // the last one does something else
    run.accesses.push_back(access(task, 1, task != 100, 8));
  }
  const Switches places = Conflicts(run).places();
  const auto at = std::ranges::find(places, Switch{1, 0, 1, 100});
  ASSERT_NE(at, places.end());
  EXPECT_LT(at - places.begin(), 4);
  EXPECT_EQ(std::set<Switch>(places.begin(), places.end()).size(), places.size());
}

TEST(Conflicts, OfALoopTheFirstAndTheLastRoundComeFirst) {
  ScheduleLog run;
  for (uint64_t step = 0; step < 50; step++) run.accesses.push_back(access(1, step, true, 8));
  run.accesses.push_back(access(2, 5, false, 8));
  const Switches places = Conflicts(run).places();
  ASSERT_EQ(places.size(), 50u);
  EXPECT_EQ(std::set<Switch>(places.begin(), places.begin() + 2),
            (std::set<Switch>{{1, 0, 0, 2}, {1, 0, 49, 2}}));
}

TEST(Conflicts, SomeAreAllAtDifferentPlacesAndSorted) {
  ScheduleLog run;
  for (uint32_t task = 1; task <= 3; task++)
    for (uint64_t step = 0; step < 5; step++) run.accesses.push_back(access(task, step, true, 8));
  const Conflicts conflicts(run);
  Random random(3);
  for (int i = 0; i < 200; i++) {
    const Switches some = conflicts.some(random, 6);
    ASSERT_FALSE(some.empty());
    for (size_t j = 1; j < some.size(); j++) {
      const Switch &a = some[j - 1], &b = some[j];
      EXPECT_LT(std::tie(a.task, a.events, a.instructions),
                std::tie(b.task, b.events, b.instructions));
    }
  }
}

TEST(Conflicts, NoneWhereNothingWasLookedAt) {
  EXPECT_TRUE(Conflicts(ScheduleLog{}).places().empty());
}

}  // namespace
}  // namespace weir::cli::hunt
