#include "order/order.h"

#include <gtest/gtest.h>

namespace weir::order {
namespace {

// An Order that is not Weir's own: it counts events, and lets all pass.
class Counting final : public Order {
 public:
  void take_turn(Task&, EventKind kind) override { events[static_cast<uint32_t>(kind)]++; }
  uint32_t events[32] = {};
};

class OrderTest : public testing::Test {
 protected:
  OrderTest() : before_(current()) {}
  ~OrderTest() override { use(before_); }
  Order& before_;
  static inline Task task_{};
};

TEST_F(OrderTest, AnOrderFromOutsideIsToldWhatItOverrides) {
  Counting counting;
  use(counting);
  current().take_turn(task_, EventKind::kMutex);
  current().take_turn(task_, EventKind::kMutex);
  current().pass_turn(task_, TaskState::kServed);  // not overridden
  current().take_turn(task_, EventKind::kFutex);
  EXPECT_EQ(counting.events[static_cast<uint32_t>(EventKind::kMutex)], 2u);
  EXPECT_EQ(counting.events[static_cast<uint32_t>(EventKind::kFutex)], 1u);
}

TEST_F(OrderTest, AnOrderThatOverridesNothingLetsAllPass) {
  EXPECT_EQ(current().wait_blocked(task_), 0);
  EXPECT_TRUE(current().stand_still(task_, 0));
  EXPECT_FALSE(current().go_ahead(task_));
  EXPECT_FALSE(current().traits().coalesces_turns || current().traits().has_short_turns);
}

}  // namespace
}  // namespace weir::order
