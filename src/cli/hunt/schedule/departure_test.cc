#include "cli/hunt/schedule/departure.h"

#include <gtest/gtest.h>

namespace weir::cli::hunt {
namespace {

ScheduleLog run_of(const Switches& made, uint64_t tasks, const std::string& events) {
  ScheduleLog log;
  for (const Switch& one : made) log.switches.push_back({one, "preempt", {}});
  log.tasks = tasks;
  log.task_events = events;
  return log;
}

TEST(Departure, NothingIfAllWereMade) {
  EXPECT_EQ(departure({}, run_of({}, 2, "3.4")), "");
  EXPECT_EQ(departure({{1, 2, 3, 0}}, run_of({{1, 2, 3, 0}}, 2, "3.4")), "");
}

TEST(Departure, TheFirstThatWasNotMadeIsNamed) {
  EXPECT_EQ(departure({{1, 2, 3, 0}, {1, 3, 0, 0}, {9, 1, 0, 0}}, run_of({{1, 2, 3, 0}}, 2, "3.4")),
            "1.3.0>0: thread T1 did not come there, or T0 could not go on");
}

TEST(Departure, SaysWhoOrWhatWasMissing) {
  EXPECT_EQ(departure({{7, 400, 3, 9}}, run_of({}, 2, "3.4")), "7.400.3>9: there was no thread T7");
  EXPECT_EQ(departure({{1, 0, 3, 9}}, run_of({}, 2, "3.4")), "1.0.3>9: there was no thread T9");
  EXPECT_EQ(departure({{1, 40, 0, 0}}, run_of({}, 2, "3.4")),
            "1.40.0>0: thread T1 came to 4 events only");
  EXPECT_EQ(departure({{1, 0, 3, 0, 16}}, run_of({}, 2, "3.4")),
            "1.0.3~16: thread T1 did not come there, or stored nothing");
}

// Another target at the right place is another switch.
TEST(Departure, AnotherTargetIsNotTheSwitch) {
  EXPECT_NE(departure({{1, 2, 3, 0}}, run_of({{1, 2, 3, 2}}, 3, "3.4.5")), "");
}

}  // namespace
}  // namespace weir::cli::hunt
