#include "sys/spinlock.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(SpinLockTest, WaiterEndsWhenACheckHasFailedElsewhere) {
  uint32_t broken = 0;
  set_broken_word(&broken);
  SpinLock lock;
  lock.lock();
  broken = 1;
  EXPECT_EXIT(lock.lock(), testing::ExitedWithCode(125), "");
  set_broken_word(nullptr);
}

TEST(SpinLockTest, IsFreeAgainAfterUnlock) {
  SpinLock lock;
  { SpinGuard guard(lock); }
  lock.lock();
  lock.unlock();
}

}  // namespace
}  // namespace weir
