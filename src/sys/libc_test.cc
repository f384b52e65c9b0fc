#include "sys/libc.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstring>

namespace weir::libc {
namespace {

TEST(LibcTest, LearnsWhatThisLibraryIsLike) {
  ASSERT_TRUE(learn());
  const auto* record = reinterpret_cast<const char*>(pthread_self());
  int id = 0;
  std::memcpy(&id, record + layout().thread_id, sizeof id);
  EXPECT_EQ(id, gettid());
  EXPECT_GT(layout().thread_size, layout().thread_id);
  EXPECT_LE(layout().thread_size, 8192u);
  EXPECT_GE(layout().minor, 34u);
}

TEST(LibcTest, TheWordOfACondition) {
  ASSERT_TRUE(learn());
  ASSERT_LT(layout().condition_flags, sizeof(pthread_cond_t));
  pthread_condattr_t attributes;
  pthread_cond_t condition;
  ASSERT_EQ(pthread_condattr_init(&attributes), 0);
  ASSERT_EQ(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
  ASSERT_EQ(pthread_cond_init(&condition, &attributes), 0);
  const auto* bytes = reinterpret_cast<const char*>(&condition);
  uint32_t flags = 0;
  std::memcpy(&flags, bytes + layout().condition_flags, sizeof flags);
  EXPECT_EQ(flags, 2u);
  EXPECT_EQ(pthread_cond_destroy(&condition), 0);
}

TEST(LibcTest, TheCallThatCanBeCancelled) {
  const uint8_t code[kCancellableCall] = {0x4c, 0x8b, 0x4c, 0x24, 0x10, 0x4c, 0x89,
                                          0x5c, 0x24, 0x08, 0x0f, 0x05, 0xc3};
  EXPECT_TRUE(is_cancellable_call(code));
  for (size_t i = 0; i < sizeof code; i++) {
    uint8_t other[kCancellableCall];
    std::memcpy(other, code, sizeof other);
    other[i] ^= 1;
    EXPECT_FALSE(is_cancellable_call(other)) << i;
  }
}

}  // namespace
}  // namespace weir::libc
