#include <gtest/gtest.h>
#include <sched.h>
#include <string.h>

#include <initializer_list>
#include <vector>

#include "code/decode/registers.h"
#include "code/sites/processor_x86_64.h"

namespace {

using namespace weir;

RandomOp decoded(std::initializer_list<uint8_t> bytes) {
  const std::vector<uint8_t> code(bytes);
  Shape shape;
  RandomOp op;
  return read_shape(code.data(), code.size(), shape) && decode_random(shape, op) ? op : RandomOp{};
}

bool is(const RandomOp& op, unsigned target, unsigned size, bool seed) {
  return op.target == target && op.size == size && op.is_seed == seed;
}

TEST(RandomOpTest, IsDecodedWithItsPrefixes) {
  EXPECT_TRUE(is(decoded({0x0f, 0xc7, 0xf0}), kRax, 4, false));
  EXPECT_TRUE(is(decoded({0x0f, 0xc7, 0xfd}), kRbp, 4, true));
  EXPECT_TRUE(is(decoded({0x66, 0x0f, 0xc7, 0xf1}), kRcx, 2, false));
  EXPECT_TRUE(is(decoded({0x48, 0x0f, 0xc7, 0xfb}), kRbx, 8, true));
  EXPECT_TRUE(is(decoded({0x41, 0x0f, 0xc7, 0xf2}), kR10, 4, false));
  EXPECT_TRUE(is(decoded({0x49, 0x0f, 0xc7, 0xff}), kR15, 8, true));
  EXPECT_TRUE(is(decoded({0x66, 0x41, 0x0f, 0xc7, 0xf0}), kR8, 2, false));
  EXPECT_TRUE(is(decoded({0x66, 0x49, 0x0f, 0xc7, 0xf0}), kR8, 8, false));  // REX.W wins
  EXPECT_TRUE(
      is(decoded({0x46, 0x0f, 0xc7, 0xf6}), kRsi, 4, false));  // REX.R and REX.X mean nothing here
}

TEST(RandomOpTest, OthersOfTheGroupAreNone) {
  EXPECT_EQ(decoded({0x0f, 0xc7, 0x0f}).size, 0);              // cmpxchg8b
  EXPECT_EQ(decoded({0xf0, 0x48, 0x0f, 0xc7, 0x0f}).size, 0);  // lock cmpxchg16b
  EXPECT_EQ(decoded({0x0f, 0xc7, 0x37}).size, 0);              // vmptrld
  EXPECT_EQ(decoded({0x0f, 0xc7, 0x27}).size, 0);              // xsavec
  EXPECT_EQ(decoded({0xf3, 0x0f, 0xc7, 0xf8}).size, 0);        // rdpid
  EXPECT_EQ(decoded({0xf3, 0x0f, 0xc7, 0xf0}).size, 0);        // senduipi
}

TEST(RandomOpTest, ChangesItsRegisterAndTheStatusFlagsOnly) {
  for (bool seed : {false, true}) {
    if (!is_known(RandomOp{0, 8, seed})) continue;
    for (uint8_t target = 0; target < 16; target++) {
      for (uint8_t size : {uint8_t{2}, uint8_t{4}, uint8_t{8}}) {
        const uint64_t written = size == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * size) - 1;
        uint64_t ones = 0, zeros = 0;
        for (int good = 0, all = 0; good < 40 && all < 10'000; all++) {
          Frame frame;
          memset(&frame, 0xa5, sizeof frame);
          frame.rflags = 0x246 | kStatusFlags;
          const Frame before = frame;
          execute_random(RandomOp{target, size, seed}, frame);
          const uint64_t value = general_register(frame, target);
          ASSERT_EQ(frame.rflags & ~kCarryFlag, before.rflags & ~kStatusFlags);
          ASSERT_EQ(value & ~written, size == 2 ? 0xa5a5a5a5a5a5a5a5 & ~written : 0);
          if (frame.rflags & kCarryFlag) {
            good++;
            ones |= value & written;
            zeros |= ~value & written;
          } else {
            ASSERT_EQ(value & written, 0u);
          }
          general_register(frame, target) = general_register(before, target);
          frame.rflags = before.rflags;
          ASSERT_EQ(memcmp(&frame, &before, sizeof frame), 0);
        }
        EXPECT_EQ(ones, written) << "register " << +target << " size " << +size << " seed " << seed;
        EXPECT_EQ(zeros, written);
      }
    }
  }
}

TEST(PatchTest, NoAnswerNamesTheProcessor) {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  for (uint32_t leaf : {0u, 1u, 7u, 0xbu, 0x1fu, 0x80000008u, 0x8000001eu}) {
    Frame first{};
    for (size_t i = 0, seen = 0; i < CPU_SETSIZE; i++) {
      if (!CPU_ISSET(i, &all)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(i, &one);
      if (sched_setaffinity(0, sizeof one, &one) != 0) continue;
      Frame frame{};
      frame.rax = leaf;
      execute_cpuid(frame);
      hide_processor(leaf, frame);
      if (seen++ == 0) first = frame;
      EXPECT_TRUE(frame.rax == first.rax && frame.rbx == first.rbx && frame.rcx == first.rcx &&
                  frame.rdx == first.rdx)
          << leaf << " on " << i;
    }
  }
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace
