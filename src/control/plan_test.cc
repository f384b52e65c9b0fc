#include "control/plan.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

Options options_of(const char* text) { return parse_options(text); }

TEST(PlanTest, DetIsRoundsByNumberOverCopies) {
  const Plan* plan = plan_for(options_of("order=token,view=isolated"));
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->scheduler, Plan::Scheduler::kNumbered);
  EXPECT_TRUE(plan->is_isolated() && plan->has_processes() && plan->orders_atomics());
  EXPECT_TRUE(plan->is_deterministic());
  EXPECT_FALSE(plan->gives_pages() || plan->checks_races() || plan->is_order_only());
}

TEST(PlanTest, RecordGivesPagesByArrival) {
  const Plan* plan = plan_for(options_of("order=record,view=coherent"));
  ASSERT_NE(plan, nullptr);
  EXPECT_TRUE(plan->gives_pages() && plan->is_by_arrival() && plan->has_processes());
  EXPECT_FALSE(plan->is_deterministic() || plan->orders_atomics());
}

TEST(PlanTest, RecordOfTheRealMemoryKeepsTheOrderAlone) {
  const Plan* plan = plan_for(options_of("order=record,view=direct"));
  ASSERT_NE(plan, nullptr);
  EXPECT_TRUE(plan->is_order_only() && plan->orders_atomics());
  EXPECT_FALSE(plan->has_processes());
}

TEST(PlanTest, ACheckedRunHasPagesOrKeys) {
  const Plan* pages = plan_for(options_of("view=guarded"));
  const Plan* keys = plan_for(options_of("view=guarded,enforcer=mpk"));
  ASSERT_TRUE(pages && keys);
  EXPECT_TRUE(pages->checks_races() && pages->gives_pages() && !pages->has_keys());
  EXPECT_TRUE(keys->checks_races() && keys->has_keys());
  EXPECT_FALSE(keys->gives_pages() || keys->has_processes());
}

TEST(PlanTest, NoOtherPointOfThePlaneIsAPlan) {
  for (const char* text : {"order=token,view=coherent", "order=token,view=guarded",
                           "order=record,view=isolated", "order=record,view=guarded"})
    EXPECT_EQ(plan_for(options_of(text)), nullptr) << text;
}

TEST(PlanTest, AProgramAsItIsUntilItIsDecided) {
  EXPECT_EQ(plan().memory, Plan::Memory::kDirect);
  EXPECT_EQ(plan().scheduler, Plan::Scheduler::kNone);
}

}  // namespace
}  // namespace weir
