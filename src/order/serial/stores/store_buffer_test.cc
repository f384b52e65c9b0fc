// The buffer on a model: instructions are looked at, and made by the test as the processor would
// make them, on memory of the test's.
#include "order/serial/stores/store_buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "memory/program_memory.h"
#include "order/serial/run.h"
#include "order/sleep.h"

// Of the runtime, which is not here. The first page holds nothing.
extern "C" long weir_safe_copy(void* to, const void* from, uint64_t size) {
  constexpr uint64_t kFirst = 4096;
  if (reinterpret_cast<uint64_t>(to) < kFirst || reinterpret_cast<uint64_t>(from) < kFirst)
    return -EFAULT;
  memcpy(to, from, size);
  return 0;
}
namespace weir::runtime {
uint32_t g_processors = 1;
}

namespace weir::order::serial {
namespace {

using stores::Cause;
using stores::Next;

// An instruction, not in the test's image: what lies there is taken for the runtime's.
class Code {
 public:
  Code(std::initializer_list<uint8_t> bytes) : bytes_(16) {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_.data()); }

 private:
  std::vector<uint8_t> bytes_;
};
const Code kStore{0x89, 0x07};            // mov %eax,(%rdi)
const Code kLoad{0x8b, 0x06};             // mov (%rsi),%eax
const Code kStoreByte{0x88, 0x07};        // mov %al,(%rdi)
const Code kExchange{0x87, 0x07};         // xchg %eax,(%rdi)
const Code kFence{0x0f, 0xae, 0xf0};      // mfence
const Code kStoreWide{0x0f, 0x11, 0x07};  // movups %xmm0,(%rdi)
const Code kPush{0x50};                   // push %rax
const Code kNop{0x90};                    // nop
const Code kStoreString{0xf3, 0xaa};      // rep stosb
const Code kAdd{0x01, 0x07};              // add %eax,(%rdi)

class StoreBuffer : public testing::Test {
 protected:
  void SetUp() override {
    task_.id = 3;
    other_.id = 4;
    g_run.tracks[3] = Track{};
    g_run.tracks[3].number = 1;
    g_run.tracks[4] = Track{};
    g_run.tracks[4].number = 2;
    g_run.changes = 0;
    g_run.contested = 0;
    g_run.ready = 2;
    room_[0] = {{1, 0, 0}, 0, 50};
    room_[1] = {{2, 0, 0}, 0, 50};
    Schedule schedule;
    schedule.name = StrategyName::kList;
    schedule.is_tso = true;
    schedule.listed_delays = room_;
    schedule.listed_delay_count = 2;
    stores::start(schedule);
  }
  void TearDown() override { stores::start(Schedule{}); }

  Next look(const Code& code, const void* rdi, const void* rsi = nullptr, uint64_t count = 0) {
    Frame frame{};
    frame.rip = code.address();
    frame.rdi = reinterpret_cast<uint64_t>(rdi);
    frame.rsi = reinterpret_cast<uint64_t>(rsi);
    frame.rsp = reinterpret_cast<uint64_t>(stack_ + 4);
    frame.rcx = count;
    return stores::look(task_, frame, is_counted_, cause_);
  }
  // A store of an int, as the program makes it.
  void store(int& at, int value) {
    ASSERT_EQ(look(kStore, &at), Next::kSingle);
    at = value;
    made(1);
  }
  void made(uint64_t steps) {
    g_run.tracks[3].step += steps;
    stores::note_steps(task_, steps);
  }

  Task task_{}, other_{};
  Switch room_[2];
  Cause cause_{};
  bool is_counted_ = true;
  uint64_t stack_[5] = {};
  int x_ = 7, y_ = 8;
};

TEST_F(StoreBuffer, OthersSeeAStoreWhenItIsDrained) {
  ASSERT_EQ(stores::steps_before(task_), 0u);
  ASSERT_TRUE(stores::begin(task_, 0));
  store(x_, 1);
  EXPECT_EQ(x_, 1);  // its own
  stores::hide(task_);
  EXPECT_EQ(x_, 7);
  stores::show(task_);
  EXPECT_EQ(x_, 1);
  stores::drain(task_, Cause::kFence, 0);
  EXPECT_FALSE(stores::is_delaying(task_));
  stores::hide(task_);
  EXPECT_EQ(x_, 1);
  ASSERT_EQ(stores::delayed_count(), 1u);
  const stores::Delayed& delayed = stores::delayed(0);
  EXPECT_EQ(delayed.at, (Position{1, 0, 0}));
  EXPECT_EQ(delayed.visible_at, (Position{1, 0, 1}));
  EXPECT_EQ(delayed.steps, 50u);
  EXPECT_EQ(delayed.value, 1u);
  EXPECT_EQ(delayed.size, 4u);
  EXPECT_EQ(delayed.stores, 1u);
  EXPECT_EQ(delayed.cause, Cause::kFence);
  EXPECT_EQ(stores::not_followed(), 1u);  // the other's
}

TEST_F(StoreBuffer, LaterStoresQueueBehind) {
  ASSERT_TRUE(stores::begin(task_, 0));
  store(x_, 1);
  store(y_, 2);
  store(x_, 3);
  ASSERT_EQ(look(kStoreByte, &x_), Next::kSingle);
  memset(&x_, 0x55, 1);
  made(1);
  EXPECT_EQ(x_, 0x55);
  stores::hide(task_);
  EXPECT_EQ(x_, 7);
  EXPECT_EQ(y_, 8);
  x_ = 0x01010100;  // another task's store comes first in the order of memory
  stores::show(task_);
  EXPECT_EQ(x_, 0x55);
  EXPECT_EQ(y_, 2);
  stores::hide(task_);
  EXPECT_EQ(x_, 0x01010100);
  EXPECT_EQ(y_, 8);
  stores::drain_others(other_, Cause::kCall);
  EXPECT_EQ(x_, 0x55);
  EXPECT_EQ(y_, 2);
  EXPECT_FALSE(stores::has_stores(task_));
  stores::show(task_);  // the turn comes back, and there is nothing to be made
  EXPECT_EQ(x_, 0x55);
}

TEST_F(StoreBuffer, StoresToTheStackQueueToo) {
  ASSERT_TRUE(stores::begin(task_, 0));
  is_counted_ = false;
  EXPECT_EQ(look(kPush, nullptr), Next::kNothing);  // no delay begins with it
  is_counted_ = true;
  store(x_, 1);
  is_counted_ = false;
  ASSERT_EQ(look(kPush, nullptr), Next::kSingle);
  stack_[3] = 99;
  made(0);
  stores::hide(task_);
  EXPECT_EQ(stack_[3], 0u);
  stores::show(task_);
  EXPECT_EQ(stack_[3], 99u);
}

TEST_F(StoreBuffer, WideStoresAndStrings) {
  alignas(64) uint8_t bytes[128] = {};
  ASSERT_TRUE(stores::begin(task_, 0));
  ASSERT_EQ(look(kStoreWide, bytes), Next::kSingle);
  memset(bytes, 0xff, 16);
  made(1);
  ASSERT_EQ(look(kStoreString, bytes + 8, nullptr, 16), Next::kSingle);
  memset(bytes + 8, 1, 16);
  made(1);
  stores::hide(task_);
  for (const uint8_t byte : bytes) EXPECT_EQ(byte, 0);
  stores::show(task_);
  EXPECT_EQ(bytes[7], 0xff);
  EXPECT_EQ(bytes[8], 1);
  EXPECT_EQ(bytes[23], 1);
  EXPECT_EQ(bytes[24], 0);
  EXPECT_EQ(look(kStoreString, bytes, nullptr, 100), Next::kDrain);  // more than one store's
  EXPECT_EQ(cause_, Cause::kCode);
}

TEST_F(StoreBuffer, FencesAndLockedInstructionsDrain) {
  ASSERT_TRUE(stores::begin(task_, 0));
  EXPECT_EQ(look(kFence, &x_), Next::kNothing);  // nothing is there to be drained
  EXPECT_EQ(look(kExchange, &x_), Next::kNothing);
  EXPECT_EQ(look(kLoad, nullptr, &y_), Next::kNothing);
  store(x_, 1);
  EXPECT_EQ(look(kNop, nullptr), Next::kSingle);
  EXPECT_EQ(look(kAdd, &y_), Next::kSingle);
  stores::forget_look(task_);
  for (const Code* code : {&kFence, &kExchange}) {
    EXPECT_EQ(look(*code, &x_), Next::kDrain);
    EXPECT_EQ(cause_, Cause::kFence);
  }
}

TEST_F(StoreBuffer, EndsAfterTheStepsOfTheSchedule) {
  ASSERT_TRUE(stores::begin(task_, 0));
  store(x_, 1);
  made(49);
  EXPECT_EQ(look(kNop, nullptr), Next::kOver);
  EXPECT_FALSE(stores::is_delaying(task_));
  EXPECT_EQ(stores::delayed(0).cause, Cause::kSteps);
  EXPECT_EQ(stores::steps_before(task_), kNoStop);
}

TEST_F(StoreBuffer, TheOldestGoesWhereThereIsNoRoom) {
  std::vector<int> values(100);
  ASSERT_TRUE(stores::begin(task_, 0));
  is_counted_ = true;
  for (int& one : values) {
    ASSERT_EQ(look(kStore, &one), Next::kSingle);
    one = 1;
    made(0);
  }
  stores::hide(task_);
  EXPECT_EQ(values[35], 1);
  EXPECT_EQ(values[36], 0);
  EXPECT_EQ(values[99], 0);
}

TEST_F(StoreBuffer, SystemCallsOfOthersDrainWhatTheyReach) {
  ASSERT_TRUE(stores::begin(task_, 0));
  store(x_, 1);
  stores::hide(task_);
  const auto start = reinterpret_cast<uint64_t>(&y_);
  stores::drain_others(other_, Cause::kCall, {start, start + sizeof y_});
  EXPECT_EQ(x_, 7);
  const auto at = reinterpret_cast<uint64_t>(&x_);
  stores::drain_others(other_, Cause::kCall, {at + 3, at + 4});
  EXPECT_EQ(x_, 1);
  EXPECT_EQ(stores::delayed(0).cause, Cause::kCall);
}

TEST_F(StoreBuffer, WhatOtherProcessesMaySeeIsNotDelayed) {
  void* const shared =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  ASSERT_TRUE(stores::begin(task_, 0));
  EXPECT_EQ(look(kStore, shared), Next::kNothing);
  store(x_, 1);
  EXPECT_EQ(look(kStore, shared), Next::kDrain);
  munmap(shared, 4096);
}

TEST_F(StoreBuffer, MemoryThatIsGoneIsPassedOver) {
  ASSERT_TRUE(stores::begin(task_, 0));
  int* const nowhere = reinterpret_cast<int*>(uint64_t{0x10});
  store(x_, 1);
  EXPECT_EQ(look(kStore, nowhere), Next::kDrain);  // it faults, with an empty buffer
  EXPECT_EQ(cause_, Cause::kCode);
}

}  // namespace
}  // namespace weir::order::serial
