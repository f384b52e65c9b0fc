#include "view/view.h"

#include <gtest/gtest.h>

#include <string>

#include "view/direct.h"

namespace weir::view {
namespace {

// A View that is not Weir's own: it notes what it is told.
class Noting final : public View {
 public:
  void find_writes(Task&) override { noted += "find "; }
  void publish(Task&) override { noted += "publish "; }
  void touch(uint64_t, uint64_t size, bool writes) override {
    noted += (writes ? "write " : "read ") + std::to_string(size) + " ";
  }
  std::string noted;
};

class ViewTest : public testing::Test {
 protected:
  ViewTest() : before_(current()) {}
  ~ViewTest() override { use(before_); }
  View& before_;
  Task task_{};
};

TEST_F(ViewTest, AViewFromOutsideIsToldWhatItOverrides) {
  Noting noting;
  use(noting);
  current().find_writes(task_);
  current().publish(task_);
  current().touch(0x1000, 8, true);
  current().touch(0x1000, 4, false);
  current().refresh();  // not overridden
  EXPECT_EQ(noting.noted, "find publish write 8 read 4 ");
}

TEST_F(ViewTest, OneRealMemoryNeedsNothing) {
  Direct direct;
  use(direct);
  EXPECT_TRUE(current().open_tracking());
  EXPECT_TRUE(current().hand_over(task_, task_));
  EXPECT_FALSE(current().grant_requests(task_));
  EXPECT_FALSE(current().has_to_catch_up(task_));
}

TEST_F(ViewTest, TheDefaultIsTheRealMemory) { EXPECT_TRUE(current().open_tracking()); }

}  // namespace
}  // namespace weir::view
