#include "code/emulate/waiting_loop_x86_64.h"

#include <gtest/gtest.h>

#include <cstring>

namespace weir {
namespace {

// Loops as programs have them: rdi is the address of a word, rsi what it is compared with.
asm(R"(
.pushsection .text
waiting_loop_nops:
  mov (%rdi), %rax
  test %rax, %rax
  jne 1f
  nop; nop; pause
  jmp waiting_loop_nops
1: ret
waiting_loop_compare:
  lfence
  movzbl (%rdi), %ecx
  and $0x7f, %ecx
  movslq 8(%rdi), %rdx
  xor %r8d, %r8d
  cmp %esi, %ecx
  jl waiting_loop_compare
  ret
waiting_loop_counts:
  add $1, %rcx
  cmpl $0, (%rdi)
  je waiting_loop_counts
  ret
waiting_loop_stores:
  mov %rsi, 16(%rdi)
  cmpl $0, (%rdi)
  je waiting_loop_stores
  ret
.popsection
)");
extern "C" const char waiting_loop_nops[], waiting_loop_compare[], waiting_loop_counts[],
    waiting_loop_stores[];

bool load(uint64_t address, uint64_t size, uint64_t* value) {
  *value = 0;
  std::memcpy(value, reinterpret_cast<const void*>(address), size);
  return true;
}

struct WaitingLoopTest : ::testing::Test {
  // Whether the loop at `code` waits, from wherever one of its first passes may have been met.
  bool waits(const char* code) {
    Registers from;
    from.rip = reinterpret_cast<uint64_t>(code);
    from.general[kRdi] = reinterpret_cast<uint64_t>(words);
    from.general[kRsi] = 5;
    WaitingLoop first;
    // Once round, so that the registers hold what the loop leaves in them.
    if (find_waiting_loop(from, 0, load, first)) return found = first, true;
    from.rflags = 0x44;  // zero, even parity: of a comparison with zero
    if (find_waiting_loop(from, 0, load, first)) return found = first, true;
    from.rflags = 0x81 | 0x10;  // of 0 - 5
    for (const uint64_t parity : {0u, 4u}) {
      from.rflags = (from.rflags & ~uint64_t{4}) | parity;
      if (find_waiting_loop(from, 0, load, first)) return found = first, true;
    }
    return false;
  }
  alignas(8) uint64_t words[4] = {};
  WaitingLoop found = {};
};

TEST_F(WaitingLoopTest, ALoopThatOnlyReadsIsFound) {
  ASSERT_TRUE(waits(waiting_loop_nops));
  ASSERT_EQ(found.read_count, 1u);
  EXPECT_EQ(found.read[0].address, reinterpret_cast<uint64_t>(words));
  EXPECT_EQ(found.read[0].size, 8u);
  EXPECT_EQ(found.read[0].value, 0u);
  EXPECT_EQ(found.smallest.rip, reinterpret_cast<uint64_t>(waiting_loop_nops));
  ASSERT_TRUE(waits(waiting_loop_compare));
  EXPECT_EQ(found.read_count, 2u);
}

TEST_F(WaitingLoopTest, WhereItIsMetMakesNoDifference) {
  ASSERT_TRUE(waits(waiting_loop_nops));
  const Registers smallest = found.smallest;
  Registers inside = smallest;
  inside.rip += 3;  // behind the load
  ASSERT_TRUE(find_waiting_loop(inside, 0, load, found));
  EXPECT_EQ(found.smallest, smallest);
}

TEST_F(WaitingLoopTest, ALoopThatEndsIsNone) {
  words[0] = 1;
  EXPECT_FALSE(waits(waiting_loop_nops));
  words[0] = 6;
  EXPECT_FALSE(waits(waiting_loop_compare));
}

TEST_F(WaitingLoopTest, WhatChangesAnythingIsNone) {
  EXPECT_FALSE(waits(waiting_loop_counts));
  EXPECT_FALSE(waits(waiting_loop_stores));
}

}  // namespace
}  // namespace weir
